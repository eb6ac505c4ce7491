-- Begins to build a home that is absent, or joins a build that another builder may have given up.
-- KEYS home state; ARGV 'again' to add to a home that is ready, or ''
-- Returns the number of changes to the home since its build began, false when the home is ready.
-- The number starts at the clock (us). A builder that read before the home was dropped and begun again by another
-- therefore sees that the build is not its own.
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
