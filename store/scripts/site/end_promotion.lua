-- Ends a promotion. Its end becomes 0, so that it has ended by every clock. Repeating it changes nothing.
-- KEYS: promotions, record.
-- ARGV: promotion.
-- Returns the promotion's fields; a refusal when there is none.
if redis.call('EXISTS', record) == 0 then
  return Refusal.GONE
end
redis.call('HSET', record, PromotionField.ENDS, 0)
redis.call('ZREM', promotions, promotion)
return redis.call('HGETALL', record)
