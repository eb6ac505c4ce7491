-- Begins to build a home that is absent, or joins a build that another builder may have given up.
-- KEYS: home_state.
-- ARGV: again ('1' to add to a home that is ready, or '').
-- Returns the number of changes to the home since its build began, false when the home is ready.
-- The number starts at the clock (us). A builder that read before the home was dropped and begun again by another
-- therefore sees that the build is not its own.
local function begun()
  local time = redis.call('TIME')
  return str(tonumber(time[1]) * 1000000 + tonumber(time[2]))
end
if redis.call('HEXISTS', home_state, HomeField.FLOOR) == 0 then
  redis.call('HSET', home_state, HomeField.FLOOR, 0, HomeField.BUILDING, 1, HomeField.CHANGED, begun())
elseif redis.call('HEXISTS', home_state, HomeField.BUILDING) == 0 then
  if again == '' then
    return false
  end
  redis.call('HSET', home_state, HomeField.BUILDING, 1, HomeField.CHANGED, begun())
end
return redis.call('HGET', home_state, HomeField.CHANGED)
