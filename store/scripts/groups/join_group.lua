-- Lets a member join a group, or ask to join a private one. With an invitation, they join at once.
-- KEYS: minted, jobs, group, group_members, group_roles, group_requests, group_invitations, group_banned.
-- ARGV: partition, member, id (of the group).
-- Returns GONE, BANNED, {} for a member or a repeated request, or {job, job body}.
local kind = redis.call('HGET', group, GroupField.KIND)
if not kind then
  return Refusal.GONE
end
if role_in(group_members, group_roles, member) then
  return {}
end
if redis.call('ZSCORE', group_banned, member) then
  return Refusal.BANNED
end
local is_invited = redis.call('ZREM', group_invitations, member) == 1
if kind == 'PRIVATE' and not is_invited then
  if redis.call('ZSCORE', group_requests, member) then
    return {}
  end
  redis.call('ZADD', group_requests, str(mint(minted, partition)), member)
  return {commit_settling(jobs, minted, partition, id, {member})}
end
redis.call('ZADD', group_members, str(mint(minted, partition)), member)
return {commit_settling(jobs, minted, partition, id, {member})}
