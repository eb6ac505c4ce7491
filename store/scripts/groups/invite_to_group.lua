-- Invites members to a group, with the job that notifies them. Those who have asked to join do so at once.
-- KEYS: minted, jobs, group, group_members, group_roles, group_requests, group_invitations, group_banned.
-- ARGV: partition, actor, id (of the group), invited...
-- Any member of a group may invite, in a private group only its moderators.
-- Returns GONE, DENIED, or {job, job body, one answer per member}: IN_GROUP, BANNED, or '' for who is not refused. The job
-- is '' when nothing has changed.
local kind = redis.call('HGET', group, GroupField.KIND)
if not kind then
  return Refusal.GONE
end
local is_open = kind ~= 'PRIVATE' or moderates(group_members, group_roles, actor)
if not is_open or not role_in(group_members, group_roles, actor) then
  return Refusal.DENIED
end
local answers, changed_here = {'', ''}, {}
for _, member in ipairs(invited) do
  local answer = ''
  if role_in(group_members, group_roles, member) then
    answer = Refusal.IN_GROUP
  elseif redis.call('ZSCORE', group_banned, member) then
    answer = Refusal.BANNED
  elseif not redis.call('ZSCORE', group_invitations, member) then
    local request = redis.call('ZSCORE', group_requests, member)
    if request then
      redis.call('ZREM', group_requests, member)
      redis.call('ZADD', group_members, request, member)
    else
      redis.call('ZADD', group_invitations, actor, member)
    end
    changed_here[#changed_here + 1] = member
  end
  answers[#answers + 1] = answer
end
if #changed_here > 0 then
  answers[1], answers[2] = commit_settling(jobs, minted, partition, id, changed_here)
end
return answers
