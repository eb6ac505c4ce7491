-- Changes fields of the profile and the credentials together.
-- KEYS: minted, jobs, user, credentials, former_logins.
-- ARGV: partition, names (JSON, or ''), release_seconds, profile_count, changes...
-- `names` has the member and the new login, e-mail or name. It is '' when none of these changes.
-- `release_seconds` says how long a former login stays reserved.
-- `changes` are pairs of a field and its new text.
-- The first `profile_count` pairs are of the profile, the others of the credentials.
-- Returns the job's id and body, {} when no name changed.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
-- The old names are read in this step. So of two simultaneous changes, the later one releases the earlier one's names.
local job = names ~= '' and cjson.decode(names)
if job then
  job.old_login = job.login and redis.call('HGET', user, UserField.LOGIN)
  job.old_email = job.email and redis.call('HGET', credentials, CredentialsField.EMAIL)
  if job.old_login then
    local now = redis.call('TIME')[1]
    redis.call('ZREMRANGEBYSCORE', former_logins, '-inf', now - release_seconds)
    redis.call('ZADD', former_logins, now, string.lower(job.old_login))
  end
end
for i = 1, #changes, 2 do
  redis.call('HSET', i <= 2 * profile_count and user or credentials, changes[i], changes[i + 1])
end
if not job then
  return {}
end
local id, body = mint(minted, partition), cjson.encode(job)
commit(jobs, id, 'names', body)
return {str(id), body}
