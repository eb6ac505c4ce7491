-- Makes a member's name last, or lets one given up expire. KEYS name; ARGV member, 0 to last or life (s)
-- Returns 0 when the name belongs to somebody else.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
if ARGV[2] == '0' then
  redis.call('SET', KEYS[1], ARGV[1])
elseif holder then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return 1
