-- Sets a member's role on the whole site, with the job that logs the change.
-- KEYS: minted, jobs, credentials.
-- ARGV: partition, member, role, rank (of who acts), act (JSON).
-- Returns {job, job body}, {} without a change or the member, or OUTRANKED.
local is = redis.call('HGET', credentials, CredentialsField.ROLE)
if not is then
  return {}
end
if not is_below(credentials, rank) then
  return Refusal.OUTRANKED
end
if is == role then
  return {}
end
redis.call('HSET', credentials, CredentialsField.ROLE, role)
return {commit_job(jobs, minted, partition, 'act', {member = member, act = carried(act)})}
