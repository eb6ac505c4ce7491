-- Begins to build a home that is absent, or that somebody else has begun and may have given up.
-- KEYS home state; ARGV 'again' to add to a home that is ready, or ''
-- Returns a count of the home's changes since somebody began, false when it is ready. It begins at the clock (us), so
-- that who has read before the home was let go of, and begun again by another, does not take it for theirs.
local function begun()
  local time = redis.call('TIME')
  return str(tonumber(time[1]) * 1000000 + tonumber(time[2]))
end
if redis.call('HEXISTS', KEYS[1], 'floor') == 0 then
  redis.call('HSET', KEYS[1], 'floor', 0, 'building', 1, 'changed', begun())
elseif redis.call('HEXISTS', KEYS[1], 'building') == 0 then
  if ARGV[1] == '' then
    return false
  end
  redis.call('HSET', KEYS[1], 'building', 1, 'changed', begun())
end
return redis.call('HGET', KEYS[1], 'changed')
