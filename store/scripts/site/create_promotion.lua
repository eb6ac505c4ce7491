-- Creates a promotion and lists it among the running ones, from which it first removes those that have ended.
-- KEYS: promotions, record.
-- ARGV: promotion, now (ms), max_promotions, ends (ms since 1970), fields... (pairs of another field and its text).
-- Returns 1, or FULL when as many run as can.
redis.call('ZREMRANGEBYSCORE', promotions, '-inf', now)
if redis.call('ZCARD', promotions) >= tonumber(max_promotions) then
  return Refusal.FULL
end
redis.call('HSET', record, PromotionField.ENDS, ends, unpack(fields))
redis.call('ZADD', promotions, ends, promotion)
return 1
