-- Trims a home to its bounds. KEYS home, home state, sources, newest; ARGV home size, home slack, oldest id kept
-- Returns how many entries it removed.
local at = {home = KEYS[1], state = KEYS[2], sources = KEYS[3], newest = KEYS[4]}
if not open_home(at) then
  return 0
end
local before = redis.call('LLEN', at.home)
trim(at, tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return before - redis.call('LLEN', at.home)
