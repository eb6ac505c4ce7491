-- Sets a member's role in a group.
-- KEYS: group, members, roles.
-- ARGV: actor, member, role.
-- Owners give others any role, except that nobody acts on another owner. Everybody may give up a role of their own.
-- Returns 'gone', 'denied', 'stranger' when the member is not in the group, 'owner' for its only owner, 'new' or 'again'.
if redis.call('EXISTS', group) == 0 then
  return 'gone'
end
local own, present = role_in(members, roles, actor), role_in(members, roles, member)
if not own then
  return 'denied'
end
if actor == member and ROLES[role] > ROLES[own] or actor ~= member and own ~= 'OWNER' then
  return 'denied'
end
if not present then
  return 'stranger'
end
if present == role then
  return 'again'
end
if actor ~= member and present == 'OWNER' then
  return 'denied'
end
if is_last_owner(roles, member) then
  return 'owner'
end
if role == 'MEMBER' then
  redis.call('HDEL', roles, member)
else
  redis.call('HSET', roles, member, role)
end
return 'new'
