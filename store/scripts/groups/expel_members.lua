-- Removes members from a group with the invitations they sent, and takes back invitations to it. With `banned`, it also
-- keeps them out: it bans them, and ends their requests.
-- KEYS: minted, jobs, group, group_members, group_roles, group_requests, group_invitations, banned?.
-- ARGV: partition, actor, id (of the group), channel, max_banned, named...
-- Nobody expels a member of an equal or higher role.
-- Returns GONE, DENIED unless the actor moderates the group, or {job, job body, one answer per member}: OUTRANKED, FULL, or
-- '' for who is not refused. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
if not moderates(group_members, group_roles, actor) then
  return Refusal.DENIED
end
local own = ROLES[role_in(group_members, group_roles, actor)]
local answers, settled, barred = {'', ''}, {}, banned and {}
for _, member in ipairs(named) do
  local role, answer = role_in(group_members, group_roles, member), ''
  if role and ROLES[role] >= own then
    answer = Refusal.OUTRANKED
  elseif not banned then
    if redis.call('ZREM', group_members, member) + redis.call('ZREM', group_invitations, member) > 0 then
      put_out(group_roles, group_invitations, member, settled)
    end
  elseif not redis.call('ZSCORE', banned, member) then
    if redis.call('ZCARD', banned) >= tonumber(max_banned) then
      answer = Refusal.FULL
    else
      redis.call('ZADD', banned, str(mint(minted, partition)), member)
      for _, list in ipairs({group_members, group_requests, group_invitations}) do
        redis.call('ZREM', list, member)
      end
      put_out(group_roles, group_invitations, member, settled)
      barred[#barred + 1] = member
    end
  end
  answers[#answers + 1] = answer
end
if #settled > 0 then
  redis.call('SPUBLISH', channel, '')
  answers[1], answers[2] = commit_settling(jobs, minted, partition, id, settled, '', barred)
end
return answers
