-- Appends an event to the log, once, and wakes the subscribers.
-- KEYS events, event ids; ARGV name of the event, events kept, channel, fields...
-- Twice as many names are kept as events, so that no name is forgotten before its event.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if redis.call('ZADD', KEYS[2], 'NX', str(now), ARGV[1]) == 0 then
  return false
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -2 * tonumber(ARGV[2]) - 1)
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 4))
redis.call('PUBLISH', ARGV[3], '')
return id
