-- Reads a slice of a home, oldest first. KEYS home
-- ARGV ids that bound the slice, both exclusive, the upper one or ''; '1' for the newest entries or ''; most entries
local from = count_up_to(KEYS[1], tonumber(ARGV[1]))
local to = (ARGV[2] == '' and redis.call('LLEN', KEYS[1]) or count_up_to(KEYS[1], tonumber(ARGV[2]) - 1)) - 1
if ARGV[3] == '1' then
  from = math.max(from, to - ARGV[4] + 1)
else
  to = math.min(to, from + ARGV[4] - 1)
end
return from > to and {} or redis.call('LRANGE', KEYS[1], from, to)
