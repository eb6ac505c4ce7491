-- Leases mails that are due to one sender.
-- KEYS: outbox, mails.
-- ARGV: limit, lease_time (ms).
-- Returns id, record and end of the lease (ms since 1970) of each.
local taken = {}
local lease = str(now_ms() + lease_time)
for _, id in ipairs(redis.call('ZRANGE', outbox, '-inf', str(now_ms()), 'BYSCORE', 'LIMIT', 0, limit)) do
  local record = redis.call('HGET', mails, id)
  if record then
    redis.call('ZADD', outbox, lease, id)
    taken[#taken + 1], taken[#taken + 2], taken[#taken + 3] = id, record, lease
  else
    redis.call('ZREM', outbox, id)
  end
end
return taken
