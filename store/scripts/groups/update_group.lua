-- Changes a group's record, with the job that updates the directory.
-- KEYS: minted, jobs, group, group_members, group_roles, group_requests.
-- ARGV: partition, actor, id (of the group), channel, changes... (field, value, ...).
-- Requests to a group that is no longer private are granted: members join with the ids of their requests.
-- Returns GONE, DENIED unless the actor is an owner, {} without a change, or {job, job body}.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
if role_in(group_members, group_roles, actor) ~= 'OWNER' then
  return Refusal.DENIED
end
local is_changed, was_private = false, redis.call('HGET', group, GroupField.KIND) == 'PRIVATE'
for i = 1, #changes, 2 do
  if redis.call('HGET', group, changes[i]) ~= changes[i + 1] then
    redis.call('HSET', group, changes[i], changes[i + 1])
    is_changed = true
  end
end
if not is_changed then
  return {}
end
local is_private = redis.call('HGET', group, GroupField.KIND) == 'PRIVATE'
if not is_private and redis.call('EXISTS', group_requests) == 1 then
  redis.call('ZUNIONSTORE', group_members, 2, group_members, group_requests, 'AGGREGATE', 'MIN')
  redis.call('DEL', group_requests)
end
redis.call('SPUBLISH', channel, '')
local shown = is_private ~= was_private and (is_private and 'hide' or 'unhide') or ''
return {commit_settling(jobs, minted, partition, id, {}, shown)}
