-- Reserves the next turn by GCRA. All times are in microseconds, by the clock of Redis.
--
-- KEYS[1] is a hash: `end` is the time when the last reserved turn and its pause are over, `asked` the
-- time when the script ran last. ARGV has pairs of a name and a number:
--
--   pause      the time between two turns
--   tolerance  how much earlier than evenly spaced a turn may be, for a burst
--   lateness   how long ago a turn may be
--   ahead      how far ahead a turn may be for it to be reserved
--   kept       the seconds for which Redis keeps a hash that is not used
--
-- Returns the time, how far ahead the next turn is, and whether it is reserved (1 or 0).
local arguments = {}
for index = 1, #ARGV, 2 do
  arguments[ARGV[index]] = tonumber(ARGV[index + 1])
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'end', 'asked')
local schedule_end = tonumber(state[1] or 0)
local asked = tonumber(state[2] or 0)

-- If the clock was set back, the schedule moves with it: else nobody would have a turn until the
-- clock is where it was.
if now < asked then
  schedule_end = schedule_end - (asked - now)
end

local turn = math.max(now - arguments.lateness, schedule_end - arguments.tolerance)
local is_reserved = turn - now <= arguments.ahead
if is_reserved then
  schedule_end = math.max(schedule_end, turn) + arguments.pause
end
redis.call('HSET', KEYS[1], 'end', schedule_end, 'asked', now)
redis.call('EXPIRE', KEYS[1], arguments.kept)
return {now, turn - now, is_reserved and 1 or 0}
