-- Ends what a member is in a group: their membership, with the invitations they sent, their request or invitation.
-- KEYS: minted, jobs, group, group_members, group_roles, group_requests, group_invitations.
-- ARGV: partition, member, id (of the group), is_deleted ('1' when the account is deleted), channel.
-- The only owner cannot leave. When their account is deleted, the oldest moderator becomes owner, else the oldest
-- member. A group without members is deleted.
-- Returns GONE, LAST_OWNER, {} without a change, or {job, job body, the job's kind}: that of a deleted group, or of its
-- members.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
local function heir()
  local oldest, oldest_id
  for _, moderator in ipairs(redis.call('HKEYS', group_roles)) do
    local id = tonumber(redis.call('ZSCORE', group_members, moderator))
    if moderator ~= member and id and (not oldest or id < oldest_id) then
      oldest, oldest_id = moderator, id
    end
  end
  for _, other in ipairs(redis.call('ZRANGE', group_members, 0, 1)) do
    oldest = oldest or other ~= member and other or nil
  end
  return oldest
end
if is_last_owner(group_roles, member) then
  if is_deleted == '' then
    return Refusal.LAST_OWNER
  end
  local next_owner = heir()
  if not next_owner then
    redis.call('DEL', group)
    local job, body = commit_job(jobs, minted, partition, 'delete_group', {group = id})
    redis.call('SPUBLISH', channel, '')
    return {job, body, 'delete_group'}
  end
  redis.call('HSET', group_roles, next_owner, 'OWNER')
end
local count = redis.call('ZREM', group_members, member) + redis.call('ZREM', group_requests, member)
  + redis.call('ZREM', group_invitations, member)
redis.call('HDEL', group_roles, member)
if count == 0 then
  return {}
end
redis.call('SPUBLISH', channel, '')
local settled = end_invitations(group_invitations, member)
settled[#settled + 1] = member
local job, body = commit_settling(jobs, minted, partition, id, settled)
return {job, body, 'group_members'}
