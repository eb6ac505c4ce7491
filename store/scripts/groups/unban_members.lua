-- Ends bans of members from a group. They are strangers to it from now on.
-- KEYS: minted, jobs, group, members, roles, banned.
-- ARGV: partition, actor, id (of the group), named...
-- Returns {'gone'}, {'denied'} unless the actor moderates the group, or {'done', job, job body, one answer per member}:
-- 'new', or 'again' for who is not banned. The job is '' when nothing has changed.
if redis.call('EXISTS', group) == 0 then
  return {'gone'}
end
if not moderates(members, roles, actor) then
  return {'denied'}
end
local result, freed = {'done', '', ''}, {}
for _, member in ipairs(named) do
  local is_new = redis.call('ZREM', banned, member) == 1
  freed[#freed + 1] = is_new and member or nil
  result[#result + 1] = is_new and 'new' or 'again'
end
if #freed > 0 then
  result[2], result[3] = commit_settling(jobs, minted, partition, id, freed, '', freed)
end
return result
