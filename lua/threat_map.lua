-- Monsters in sight that are nobody's pets, nearest first, with how many king's moves away they are, in which direction
-- (the key that leads there), what they are called, and how the hero's hit points stand.
local keys = {
    ["-1"] = { ["-1"] = "y", ["0"] = "k", ["1"] = "u" },
    ["0"] = { ["-1"] = "h", ["0"] = ".", ["1"] = "l" },
    ["1"] = { ["-1"] = "b", ["0"] = "j", ["1"] = "n" },
}

local threats = {}
local hero = nh.hero
if hero then
    for _, cell in nh.cells() do
        -- `warning` is a monster that is felt, `unseen` a place where one was; `detected` one that is known from afar.
        if cell.kind == "monster" or cell.kind == "warning" or cell.kind == "unseen" or cell.kind == "detected" then
            local down, right = cell.row - hero.row, cell.column - hero.column
            table.insert(threats, {
                char = cell.char,
                kind = cell.kind,
                glyph = cell.glyph,
                description = cell.description,
                row = cell.row,
                column = cell.column,
                distance = math.max(math.abs(down), math.abs(right)),
                toward = keys[tostring(math.sign(down))][tostring(math.sign(right))],
            })
        end
    end
end
table.sort(threats, function(a, b)
    if a.distance ~= b.distance then
        return a.distance < b.distance
    end
    return a.row * 80 + a.column < b.row * 80 + b.column
end)

local status = nh.status
return {
    threats = threats,
    adjacent = #threats > 0 and threats[1].distance <= 1,
    hp_part = status and status.hp_max > 0 and status.hp / status.hp_max or nil,
}
