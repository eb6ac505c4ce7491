-- Sets a member's role on the whole site, with the job that logs the change.
-- KEYS: minted, jobs, credentials.
-- ARGV: partition, member, role, rank (of who acts), act (JSON).
-- Returns {'new', job, job body}, {'again'} without a change, {'denied'} for an equal or superior, {'gone'}.
local is = redis.call('HGET', credentials, CredentialsField.ROLE)
if not is then
  return {'gone'}
end
if not is_below(credentials, rank) then
  return {'denied'}
end
if is == role then
  return {'again'}
end
redis.call('HSET', credentials, CredentialsField.ROLE, role)
local job = mint(minted, partition)
local body = commit(jobs, job, 'act', {member = member, act = carried(act)})
return {'new', str(job), body}
