-- Ends a promotion. Its end becomes 0, so that it has ended by every clock. Repeating it changes nothing.
-- KEYS promotions, promotion; ARGV promotion
-- Returns the promotion's fields, {} when there is none.
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HSET', KEYS[2], 'ends', 0)
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return redis.call('HGETALL', KEYS[2])
