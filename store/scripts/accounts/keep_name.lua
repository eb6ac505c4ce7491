-- Makes a member's name permanent, or lets a former name expire. KEYS name; ARGV member, 0 to keep it or life (s)
-- Returns 0 when the name belongs to another member, else 1.
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
