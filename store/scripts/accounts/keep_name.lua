-- Makes a member's login or e-mail permanent, or lets a former one expire.
-- KEYS: name (login or e-mail).
-- ARGV: member, ttl (s, 0 to make the name permanent), mistaken ('' or a member whom the name does not belong to).
-- Returns 0 when the name belongs to another member, else 1.
local holder = redis.call('GET', name)
if holder and holder ~= member and holder ~= mistaken then
  return 0
end
if ttl == '0' then
  redis.call('SET', name, member)
elseif holder then
  redis.call('EXPIRE', name, ttl)
end
return 1
