-- Removes members from a group with the invitations they sent, and takes back invitations to it.
-- KEYS: minted, jobs, group, members, roles, invitations.
-- ARGV: partition, actor, id (of the group), channel, removed...
-- Nobody removes a member of an equal or higher role.
-- Returns {'gone'}, {'denied'} unless the actor moderates the group, or {'done', job, job body, one answer per member}:
-- 'new', 'again' for who is not in the group, or 'denied'. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return {'gone'}
end
if not moderates(members, roles, actor) then
  return {'denied'}
end
local own = ROLES[role_in(members, roles, actor)]
local result, gone = {'done', '', ''}, {}
for _, member in ipairs(removed) do
  local role = role_in(members, roles, member)
  if role and ROLES[role] >= own then
    result[#result + 1] = 'denied'
  elseif redis.call('ZREM', members, member) + redis.call('ZREM', invitations, member) > 0 then
    put_out(roles, invitations, member, gone)
    result[#result + 1] = 'new'
  else
    result[#result + 1] = 'again'
  end
end
if #gone > 0 then
  redis.call('SPUBLISH', channel, '')
  result[2], result[3] = commit_settling(jobs, minted, partition, id, gone)
end
return result
