-- How the hit points have gone over the last boundaries: where they began and are, the least and the greatest loss
-- between two of them, what was said when that came, and how many turns are left at this rate.
local FRAMES = 60

local first, last, least, worst
for _, frame in nh.frames(FRAMES) do
    local status = frame.status
    if status then
        first = first or frame
        if last then
            local loss = last.status.hp - status.hp
            if loss > 0 and (not worst or loss > worst.loss) then
                local said = {}
                for _, message in frame.messages do
                    table.insert(said, message.text)
                end
                worst = { loss = loss, turn = frame.turn, boundary = frame.boundary, messages = said }
            end
        end
        least = math.min(least or status.hp, status.hp)
        last = frame
    end
end
if not last then
    return nil
end

local turns = last.turn - first.turn
local lost = first.status.hp - last.status.hp
return {
    turns = turns,
    hp_first = first.status.hp,
    hp = last.status.hp,
    hp_max = last.status.hp_max,
    least = least,
    worst = worst,
    -- Only where it goes down.
    turns_left = lost > 0 and turns > 0 and math.floor(last.status.hp * turns / lost) or nil,
}
