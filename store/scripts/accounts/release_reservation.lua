-- Releases a login or e-mail that a member reserved, or an idempotency key that an input claimed.
-- KEYS: reservation.
-- ARGV: holder (what the reservation must still hold).
-- Returns 1 when it was released, else 0.
if redis.call('GET', reservation) == holder then
  return redis.call('DEL', reservation)
end
return 0
