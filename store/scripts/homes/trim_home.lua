-- Trims a home to its bounds.
-- KEYS: home, home_state, sources, candidates, newest.
-- ARGV: home_size, home_slack, oldest (highest id that is too old for a home, or 0).
-- Returns how many entries it removed.
local at = {home = home, state = home_state, sources = sources, candidates = candidates, newest = newest}
if not open_home(at) then
  return 0
end
local before = redis.call('LLEN', home)
trim(at, home_size, home_slack, oldest)
return before - redis.call('LLEN', home)
