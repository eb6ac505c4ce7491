-- Lets members who have asked to join a private group in, or turns them away.
-- KEYS: minted, jobs, group, members, roles, requests.
-- ARGV: partition, actor, id (of the group), is_approval ('1' or ''), asking...
-- Returns {'gone'}, {'denied'} unless the actor moderates the group, or {'done', job, job body, one answer per member}:
-- 'new', 'again' for a member of the group, or 'none' without a request. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return {'gone'}
end
if not moderates(members, roles, actor) then
  return {'denied'}
end
local result, answered = {'done', '', ''}, {}
for _, member in ipairs(asking) do
  local request = redis.call('ZSCORE', requests, member)
  if request then
    redis.call('ZREM', requests, member)
    if is_approval == '1' then
      redis.call('ZADD', members, request, member)
    end
    answered[#answered + 1] = member
    result[#result + 1] = 'new'
  else
    result[#result + 1] = role_in(members, roles, member) and 'again' or 'none'
  end
end
if #answered > 0 then
  result[2], result[3] = commit_settling(jobs, minted, partition, id, answered)
end
return result
