-- Marks notifications as read, up to one of them or all. KEYS notifications, withdrawn, state; ARGV notification or ''
-- Returns 1, 0 when no notification has that id. The id of a recently withdrawn one is accepted, too.
local id = ARGV[1]
if id == '' then
  id = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or '0'
elseif redis.call('ZCOUNT', KEYS[1], id, id) == 0 and not redis.call('ZSCORE', KEYS[2], id) then
  return 0
end
if tonumber(id) > tonumber(redis.call('HGET', KEYS[3], 'read') or '0') then
  redis.call('HSET', KEYS[3], 'read', id)
end
return 1
