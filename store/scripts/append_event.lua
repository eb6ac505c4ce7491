-- Appends an event to the log, once, and wakes the readers.
-- KEYS events, event ids; ARGV name of the event, events kept, channel, now (ms), fields...
-- Names are kept a little longer than events, so that a name is never forgotten before its event.
if redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1]) == 0 then
  return false
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -2 * tonumber(ARGV[2]) - 1)
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 5))
redis.call('PUBLISH', ARGV[3], '')
return id
