-- Places that lead on from what has been seen of the level, nearest first by walking: closed doors, doorways with nothing
-- seen behind them, ends of corridors, floor beside what shows nothing yet (of a stretch of it, the nearest place), and
-- stairs. `steps` is the length of the way over ground that is seen, absent where none leads there. `here` is the hero's
-- own place: whoever stands there sees all that there is to see, so search with s, or go to the next of the list.
local STAIRS = { stairs_up = true, stairs_down = true, ladder_up = true, ladder_down = true }
local DOORS = { doorway = true, open_door = true, closed_door = true }
-- What lies or stands on ground that it hides.
local THINGS = {
    hero = true, object = true, body = true, statue = true, pet = true, monster = true, ridden = true, detected = true,
    unseen = true, warning = true, trap = true, boulder = true,
}
local GROUND = {
    floor = true, corridor = true, altar = true, grave = true, throne = true, sink = true, fountain = true, ice = true,
    lowered_drawbridge = true,
}
local ROWS, COLUMNS = { 1, 21 }, { 0, 78 }
local STRAIGHT = { { -1, 0 }, { 0, 1 }, { 1, 0 }, { 0, -1 } }
local SLANTWISE = { { -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 } }

local function place(row, column)
    return row * 80 + column
end

local kinds = {}
for _, cell in nh.cells() do
    if cell.kind and cell.kind ~= "stone" then
        kinds[place(cell.row, cell.column)] = cell.kind
    end
end

-- The kind at a place beside another; outside of the map there is nothing to be found.
local function beside(row, column, step)
    local to_row, to_column = row + step[1], column + step[2]
    if to_row < ROWS[1] or to_row > ROWS[2] or to_column < COLUMNS[1] or to_column > COLUMNS[2] then
        return "outside"
    end
    return kinds[place(to_row, to_column)]
end

local function is_way(kind)
    return kind ~= nil and (GROUND[kind] or THINGS[kind] or STAIRS[kind] or DOORS[kind]) or false
end

-- What a place is: "door", "corridor" or "floor", also under a thing, by what is around it; nil where nobody walks.
local function nature(row, column)
    local kind = kinds[place(row, column)]
    if DOORS[kind] then
        return "door"
    elseif kind == "corridor" then
        return "corridor"
    elseif not is_way(kind) then
        return nil
    elseif not THINGS[kind] then
        return "floor"
    end
    local north, east, south, west = unpack(STRAIGHT)
    local function is_wall(step)
        return beside(row, column, step) == "wall"
    end
    local function is_room(step)
        local near = beside(row, column, step)
        return near ~= nil and GROUND[near] and near ~= "corridor"
    end
    local along = is_wall(east) and is_wall(west) and not (is_wall(north) and is_wall(south))
    local across = is_wall(north) and is_wall(south) and not (is_wall(east) and is_wall(west))
    if along or across then
        return "door"
    end
    for _, steps in { STRAIGHT, SLANTWISE } do
        for _, step in steps do
            if is_room(step) then
                return "floor"
            end
        end
    end
    return "corridor"
end

-- How far each place is from the hero. A door is not passed slantwise; one that is closed, and a boulder, is walked to
-- and not through.
local steps = {}
local function is_door(at)
    return kinds[at] == "open_door" or kinds[at] == "closed_door"
end
if nh.hero then
    local queue, first = { { nh.hero.row, nh.hero.column } }, 1
    steps[place(nh.hero.row, nh.hero.column)] = 0
    while queue[first] do
        local row, column = queue[first][1], queue[first][2]
        local at = place(row, column)
        first += 1
        for _, ways in { STRAIGHT, SLANTWISE } do
            for _, step in ways do
                local to_row, to_column = row + step[1], column + step[2]
                local to = place(to_row, to_column)
                local barred = ways == SLANTWISE and (is_door(at) or is_door(to))
                if is_way(beside(row, column, step)) and not steps[to] and not barred then
                    steps[to] = steps[at] + 1
                    if kinds[to] ~= "closed_door" and kinds[to] ~= "boulder" then
                        table.insert(queue, { to_row, to_column })
                    end
                end
            end
        end
    end
end

-- Whether a doorway shows nothing where it leads: along the wall that it is in there is nothing to be found.
local function door_leads_on(row, column)
    local north, east, south, west = unpack(STRAIGHT)
    local function shows(one, other, kind)
        return beside(row, column, one) == kind or beside(row, column, other) == kind
    end
    local through_columns = not shows(east, west, "wall") and shows(east, west, nil)
    local through_rows = not shows(north, south, "wall") and shows(north, south, nil)
    return through_columns or through_rows
end

-- Whether a corridor goes no further in what is seen: there is at most one way off. Its bends touch slantwise too,
-- which is no way of its own.
local function corridor_ends(row, column)
    local ways = 0
    for _, step in STRAIGHT do
        if is_way(beside(row, column, step)) then
            ways += 1
        end
    end
    for _, step in SLANTWISE do
        local round = is_way(beside(row, column, { step[1], 0 })) or is_way(beside(row, column, { 0, step[2] }))
        if is_way(beside(row, column, step)) and not round then
            ways += 1
        end
    end
    return ways <= 1
end

local function floor_leads_on(row, column)
    for _, step in STRAIGHT do
        if beside(row, column, step) == nil then
            return true
        end
    end
    return false
end

local function nearer(a, b)
    local a_steps, b_steps = a.steps or math.huge, b.steps or math.huge
    if a_steps ~= b_steps then
        return a_steps < b_steps
    end
    return place(a.row, a.column) < place(b.row, b.column)
end

local exits, edges = {}, {}
for row = ROWS[1], ROWS[2] do
    for column = COLUMNS[1], COLUMNS[2] do
        local at, is = place(row, column), nature(row, column)
        local kind = kinds[at]
        local exit = { row = row, column = column, kind = kind, steps = steps[at] }
        if kind == "hero" then
            exit.kind, exit.here = is == "door" and "doorway" or is, true
        end
        if STAIRS[kind] or kind == "closed_door" then
            table.insert(exits, exit)
        elseif is == "door" and door_leads_on(row, column) then
            table.insert(exits, exit)
        elseif is == "corridor" and corridor_ends(row, column) then
            table.insert(exits, exit)
        elseif is == "floor" and floor_leads_on(row, column) then
            edges[at] = exit
        end
    end
end

-- Of floor that lies side by side, the nearest place stands for all.
for row = ROWS[1], ROWS[2] do
    for column = COLUMNS[1], COLUMNS[2] do
        local stretch, best = { edges[place(row, column)] }, nil
        edges[place(row, column)] = nil
        while #stretch > 0 do
            local edge = table.remove(stretch)
            if not best or nearer(edge, best) then
                best = edge
            end
            for _, ways in { STRAIGHT, SLANTWISE } do
                for _, step in ways do
                    local near = place(edge.row + step[1], edge.column + step[2])
                    table.insert(stretch, edges[near])
                    edges[near] = nil
                end
            end
        end
        table.insert(exits, best)
    end
end

table.sort(exits, nearer)
return exits
