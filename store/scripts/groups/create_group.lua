-- Creates a group in the partition of its first owner, with the job that adds it to the directory.
-- KEYS: minted, jobs, user, memberships, idempotency?
-- ARGV: partition, member, group_prefix, group_members_prefix, group_roles_prefix, name, description, kind, max_groups,
--       digest, ttl (s).
-- `ttl` is that of the idempotency key.
-- Returns {id, job, job body}, {id} for a retry, CONFLICT, or FULL.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local first = first_result(idempotency, digest)
if first then
  return first
end
if redis.call('ZCARD', memberships) >= tonumber(max_groups) then
  return Refusal.FULL
end
local id = str(mint(minted, partition))
redis.call('HSET', group_prefix .. id, GroupField.NAME, name, GroupField.DESCRIPTION, description,
  GroupField.KIND, kind)
redis.call('ZADD', group_members_prefix .. id, id, member)
redis.call('HSET', group_roles_prefix .. id, member, 'OWNER')
redis.call('ZADD', memberships, id, id)
remember_result(idempotency, digest, id, ttl)
return {id, commit_settling(jobs, minted, partition, id, {})}
