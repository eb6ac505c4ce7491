-- Bans members from a group: ends their membership with the invitations they sent, their request and their invitation.
-- KEYS: minted, jobs, group, members, roles, requests, invitations, banned.
-- ARGV: partition, actor, id (of the group), channel, max_banned, named...
-- Nobody bans a member of an equal or higher role.
-- Returns {'gone'}, {'denied'} unless the actor moderates the group, or {'done', job, job body, one answer per member}:
-- 'new', 'again' for who is banned already, 'denied', or 'limit'. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return {'gone'}
end
if not moderates(members, roles, actor) then
  return {'denied'}
end
local own = ROLES[role_in(members, roles, actor)]
local result, settled, barred = {'done', '', ''}, {}, {}
local count = redis.call('ZCARD', banned)
for _, member in ipairs(named) do
  local role = role_in(members, roles, member)
  if role and ROLES[role] >= own then
    result[#result + 1] = 'denied'
  elseif redis.call('ZSCORE', banned, member) then
    result[#result + 1] = 'again'
  elseif count >= tonumber(max_banned) then
    result[#result + 1] = 'limit'
  else
    redis.call('ZADD', banned, str(mint(minted, partition)), member)
    for _, list in ipairs({members, requests, invitations}) do
      redis.call('ZREM', list, member)
    end
    put_out(roles, invitations, member, settled)
    count = count + 1
    barred[#barred + 1] = member
    result[#result + 1] = 'new'
  end
end
if #settled > 0 then
  redis.call('SPUBLISH', channel, '')
  result[2], result[3] = commit_settling(jobs, minted, partition, id, settled, '', barred)
end
return result
