-- Places that lead on from what has been seen of the level, nearest first by walking: doors, doorways, corridors and
-- floor with a neighbour that shows nothing yet; and stairs. `steps` is the length of the way over ground that is seen,
-- absent where none leads there.
local WALKABLE = {
    hero = true, doorway = true, open_door = true, floor = true, corridor = true, stairs_up = true, stairs_down = true,
    ladder_up = true, ladder_down = true, altar = true, grave = true, throne = true, sink = true, fountain = true,
    ice = true, lowered_drawbridge = true, object = true, body = true, statue = true, pet = true, monster = true,
    trap = true,
}
local EXITS = { doorway = true, open_door = true, closed_door = true, corridor = true }
local STAIRS = { stairs_up = true, stairs_down = true, ladder_up = true, ladder_down = true }

local function place(row, column)
    return row * 80 + column
end

local kinds = {}
for _, cell in nh.cells() do
    if cell.kind then
        kinds[place(cell.row, cell.column)] = cell.kind
    end
end

-- How far each place is from the hero; doors are not passed slantwise.
local steps = {}
local function is_door(at)
    return kinds[at] == "open_door" or kinds[at] == "closed_door"
end
if nh.hero then
    local start = place(nh.hero.row, nh.hero.column)
    local queue, first = { start }, 1
    steps[start] = 0
    while queue[first] do
        local at = queue[first]
        first += 1
        for down = -1, 1 do
            for right = -1, 1 do
                local next_at = at + down * 80 + right
                local slantwise = down ~= 0 and right ~= 0
                local kind = kinds[next_at]
                local passes = kind and (WALKABLE[kind] or kind == "closed_door")
                if passes and not steps[next_at] and not (slantwise and (is_door(at) or is_door(next_at))) then
                    steps[next_at] = steps[at] + 1
                    -- A closed door can be walked to, and not through.
                    if kind ~= "closed_door" then
                        table.insert(queue, next_at)
                    end
                end
            end
        end
    end
end

local exits = {}
for row = 1, 21 do
    for column = 1, 78 do
        local at = place(row, column)
        local kind = kinds[at]
        local leads_on = STAIRS[kind]
        if EXITS[kind] then
            -- A doorway leads on only straight, a corridor anywhere.
            local unseen, seen = 0, 0
            for down = -1, 1 do
                for right = -1, 1 do
                    local beside = down ~= 0 or right ~= 0
                    if beside and (kind == "corridor" or down == 0 or right == 0) then
                        if kinds[at + down * 80 + right] then
                            seen += 1
                        else
                            unseen += 1
                        end
                    end
                end
            end
            -- The end of a corridor has one neighbour; its middle has two.
            local is_end = kind == "corridor" and seen <= 1
            leads_on = is_end or (kind ~= "corridor" and unseen > 0) or kind == "closed_door"
        end
        if leads_on then
            table.insert(exits, { row = row, column = column, kind = kind, steps = steps[at] })
        end
    end
end
table.sort(exits, function(a, b)
    local a_steps, b_steps = a.steps or math.huge, b.steps or math.huge
    if a_steps ~= b_steps then
        return a_steps < b_steps
    end
    return place(a.row, a.column) < place(b.row, b.column)
end)
return exits
