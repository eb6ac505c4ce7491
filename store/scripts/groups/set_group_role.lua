-- Sets a member's role in a group.
-- KEYS: group, group_members, group_roles.
-- ARGV: actor, member, role.
-- Owners give others any role, except that nobody acts on another owner. Everybody may give up a role of their own.
-- Returns GONE, DENIED, STRANGER, LAST_OWNER, 0 without a change, or 1.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
local own, present = role_in(group_members, group_roles, actor), role_in(group_members, group_roles, member)
if not own then
  return Refusal.DENIED
end
if actor == member and ROLES[role] > ROLES[own] or actor ~= member and own ~= 'OWNER' then
  return Refusal.DENIED
end
if not present then
  return Refusal.STRANGER
end
if present == role then
  return 0
end
if actor ~= member and present == 'OWNER' then
  return Refusal.DENIED
end
if is_last_owner(group_roles, member) then
  return Refusal.LAST_OWNER
end
if role == 'MEMBER' then
  redis.call('HDEL', group_roles, member)
else
  redis.call('HSET', group_roles, member, role)
end
return 1
