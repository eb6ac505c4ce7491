-- Reads a slice of a home, oldest first.
-- KEYS: home.
-- ARGV: above (id, exclusive), below (id, exclusive, or '' for no bound), newest_first ('1' or ''), limit.
local from = count_up_to(home, tonumber(above))
local to = (below == '' and redis.call('LLEN', home) or count_up_to(home, tonumber(below) - 1)) - 1
if newest_first == '1' then
  from = math.max(from, to - limit + 1)
else
  to = math.min(to, from + limit - 1)
end
return from > to and {} or redis.call('LRANGE', home, from, to)
