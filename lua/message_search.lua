-- The messages that a pattern is found in, newest first, with how often each was given. A caller sets what is searched
-- for by a line before this script:
--   PATTERN = "you hear"
-- It is a Lua pattern, and upper and lower case are one. Without it, whatever the hero has heard or felt is listed.
local pattern = string.lower(PATTERN or "you %a*[hf]e[ae][rl]")
local MESSAGES = 1000

local found, by_text = {}, {}
local messages = nh.message_log(MESSAGES)
for index = #messages, 1, -1 do
    local message = messages[index]
    if message.text:lower():find(pattern) then
        local known = by_text[message.text]
        if known then
            known.times += 1
            known.first_turn = message.turn
        else
            known = { text = message.text, id = message.id, turn = message.turn, first_turn = message.turn, times = 1 }
            by_text[message.text] = known
            table.insert(found, known)
        end
    end
end
return { searched = #messages, found = found }
