-- Invites members to a group, with the job that notifies them. Who has asked to join joins at once.
-- KEYS: minted, jobs, group, members, roles, requests, invitations, banned.
-- ARGV: partition, actor, id (of the group), invited...
-- Any member of a group may invite, in a private group only its moderators.
-- Returns {'gone'}, {'denied'}, or {'done', job, job body, one answer per member}: 'new', 'again', 'member' or 'banned'. The
-- job is '' when nothing has changed.
local kind = redis.call('HGET', group, GroupField.KIND)
if not kind then
  return {'gone'}
end
if not role_in(members, roles, actor) or kind == 'PRIVATE' and not moderates(members, roles, actor) then
  return {'denied'}
end
local result, changed_here = {'done', '', ''}, {}
for _, member in ipairs(invited) do
  if role_in(members, roles, member) then
    result[#result + 1] = 'member'
  elseif redis.call('ZSCORE', banned, member) then
    result[#result + 1] = 'banned'
  elseif redis.call('ZSCORE', invitations, member) then
    result[#result + 1] = 'again'
  else
    local request = redis.call('ZSCORE', requests, member)
    if request then
      redis.call('ZREM', requests, member)
      redis.call('ZADD', members, request, member)
    else
      redis.call('ZADD', invitations, actor, member)
    end
    changed_here[#changed_here + 1] = member
    result[#result + 1] = 'new'
  end
end
if #changed_here > 0 then
  result[2], result[3] = commit_settling(jobs, minted, partition, id, changed_here)
end
return result
