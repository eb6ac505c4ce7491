-- Counts an upload whose bytes begin to arrive, unless too many bytes of its member wait already.
-- KEYS: originals
-- ARGV: id, member, size (bytes), most (bytes), seconds.
-- `most` bounds what waits of a member, 0 without a limit. One upload may always wait. `seconds` is how long its bytes may
-- take to arrive.
-- Returns 1, or 0 at the limit.
local waiting, now, found = 0, now_ms(), redis.call('HGETALL', originals)
for i = 1, #found, 2 do
  local whose, bytes, expires = string.match(found[i + 1], '(%d+) (%d+) (%d+)')
  if tonumber(expires) <= now then
    redis.call('HDEL', originals, found[i])
  elseif whose == member and found[i] ~= id then
    waiting = waiting + tonumber(bytes)
  end
end
if most ~= '0' and waiting > 0 and waiting + tonumber(size) > tonumber(most) then
  return 0
end
count_original(originals, id, member, size, seconds)
return 1
