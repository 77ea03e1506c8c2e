-- What the hero carries, by class, each with its letter, how many there are, and what is plain from its name: whether it
-- is worn, wielded or in the quiver, and whether it is known to be blessed, cursed or neither.
local classes = {}
for _, item in nh.inventory do
    local text = item.text
    local count = tonumber(text:match("^(%d+) ")) or 1
    local blessing = text:match("%f[%a](uncursed)%f[%A]") or text:match("%f[%a](cursed)%f[%A]") or text:match("%f[%a](blessed)%f[%A]")
    local use = (text:find("(being worn", 1, true) and "worn")
        or (text:find("(weapon in", 1, true) and "wielded")
        or (text:find("in quiver", 1, true) and "quiver")
        or (text:find("(on left", 1, true) and "worn")
        or (text:find("(on right", 1, true) and "worn")
        or nil
    local class = classes[item.class] or {}
    classes[item.class] = class
    table.insert(class, { letter = item.letter, text = text, count = count, blessing = blessing, use = use })
end
-- An empty table would be an empty list: say that there is nothing.
if next(classes) == nil then
    return nil
end
return classes
