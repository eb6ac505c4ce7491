-- Creates a promotion and lists it among the running ones, from which it first removes those that have ended.
-- KEYS promotions, promotion
-- ARGV promotion, now (ms), most that can run, end (ms), then pairs of its other fields
-- Returns 1, 0 when as many run as can.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[2], 'ends', ARGV[4], unpack(ARGV, 5))
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1])
return 1
