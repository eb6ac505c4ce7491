-- Deletes a group. From this step on, nobody sees it or its posts. The job removes the rest.
-- KEYS: minted, jobs, group, group_members, group_roles.
-- ARGV: partition, actor, id (of the group), channel.
-- Returns GONE, DENIED unless the actor is an owner, or {job, job body}.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
if role_in(group_members, group_roles, actor) ~= 'OWNER' then
  return Refusal.DENIED
end
redis.call('DEL', group)
redis.call('SPUBLISH', channel, '')
return {commit_job(jobs, minted, partition, 'delete_group', {group = id})}
