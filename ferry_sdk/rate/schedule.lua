-- GCRA. `end` is the time at which the bucket is empty, `asked` the last reading of the clock; both
-- by the clock of Redis, in microseconds.
local pause, tolerance, seen_end = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ahead, furthest = tonumber(ARGV[5]), tonumber(ARGV[6])
local lateness, latest = tonumber(ARGV[7]), tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'end', 'asked')
local schedule_end, asked = tonumber(state[1] or 0), tonumber(state[2] or 0)
if now < asked then
  schedule_end = schedule_end - (asked - now)
end
if now > latest then
  return {0, -1, now, 0}
end
if schedule_end < seen_end then
  schedule_end = math.max(schedule_end, now + furthest + tolerance)
end
local turn = math.max(now - lateness, schedule_end - tolerance)
local is_reserved = turn - now <= ahead
if is_reserved then
  schedule_end = math.max(schedule_end, turn) + pause
end
redis.call('HSET', KEYS[1], 'end', schedule_end, 'asked', now)
redis.call('EXPIRE', KEYS[1], ARGV[4])
return {turn - now, is_reserved and 1 or 0, now, schedule_end}
