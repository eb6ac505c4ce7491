-- Replaces the link to a session's export, and counts it among those of the day.
-- KEYS: sessions, exports.
-- ARGV: session, digest (of the link), now (ms), expires (ms), day (since 1970), most (in a day, 0 for any number),
--       ttl (s).
-- Returns 1, ENDED without the session, or FULL.
if redis.call('HEXISTS', sessions, session) == 0 then
  return Refusal.ENDED
end
local counted, made = string.match(redis.call('HGET', exports, ExportsField.MADE) or '', '^(%d+) (%d+)$')
made = counted == day and tonumber(made) or 0
if tonumber(most) > 0 and made >= tonumber(most) then
  return Refusal.FULL
end
-- Links of ended sessions and expired links would stay as long as the member makes exports.
local links = redis.call('HGETALL', exports)
for i = 1, #links, 2 do
  local ends = string.match(links[i + 1], '^%x+ (%d+)$')
  local is_link = links[i] ~= ExportsField.MADE
  if is_link and (tonumber(ends) <= tonumber(now) or redis.call('HEXISTS', sessions, links[i]) == 0) then
    redis.call('HDEL', exports, links[i])
  end
end
redis.call('HSET', exports, session, digest .. ' ' .. expires, ExportsField.MADE, day .. ' ' .. made + 1)
redis.call('EXPIRE', exports, ttl)
return 1
