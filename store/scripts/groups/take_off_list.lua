-- Takes members off a list of a group: answers their requests to join, or ends their bans.
-- KEYS: minted, jobs, group, group_members, group_roles, list (of requests or bans).
-- ARGV: partition, actor, id (of the group), step ('approve', 'reject' or 'unban'), named...
-- Returns GONE, DENIED unless the actor moderates the group, or {job, job body, one answer per member}: UNASKED for who is
-- approved without a request, else ''. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
if not moderates(group_members, group_roles, actor) then
  return Refusal.DENIED
end
local answers, taken = {'', ''}, {}
for _, member in ipairs(named) do
  local entry, answer = redis.call('ZSCORE', list, member), ''
  if entry then
    redis.call('ZREM', list, member)
    if step == 'approve' then
      redis.call('ZADD', group_members, entry, member)
    end
    taken[#taken + 1] = member
  elseif step == 'approve' and not role_in(group_members, group_roles, member) then
    answer = Refusal.UNASKED
  end
  answers[#answers + 1] = answer
end
if #taken > 0 then
  answers[1], answers[2] = commit_settling(jobs, minted, partition, id, taken, '', step == 'unban' and taken or nil)
end
return answers
