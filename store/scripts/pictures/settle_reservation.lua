-- Decides what becomes of a reservation: a message has taken its pictures, or from now on none can.
-- KEYS: taken.
-- ARGV: ttl (s, of what remembers that none can).
-- Returns the message, '' for none.
local message = redis.call('GET', taken)
if message and message ~= 'ended' then
  return message
end
redis.call('SET', taken, 'ended', 'EX', ttl)
return ''
