-- Creates a member whose names are reserved, with the job that makes the names permanent.
-- KEYS: minted, jobs, user, credentials, home_state, active.
-- ARGV: partition, member, login, name, email, password_hash, role, day (since 1970).
-- Returns the job's id; '' when the member exists already, because the step is repeated.
if redis.call('EXISTS', user) == 1 then
  return ''
end
redis.call('HSET', user, UserField.LOGIN, login, UserField.NAME, name, UserField.BIO, '', UserField.FOLLOWERS, 0,
  UserField.FOLLOWING, 0, UserField.POSTS, 0)
redis.call('HSET', credentials, CredentialsField.EMAIL, email, CredentialsField.PASSWORD, password_hash,
  CredentialsField.ROLE, role)
redis.call('HSET', home_state, HomeField.FLOOR, 0)
redis.call('ZADD', active, day, member)
-- The job needs an id of its own. The member's id was minted before the password was hashed, and the stream may
-- already have newer jobs.
local id = mint(minted, partition)
commit(jobs, id, 'names', cjson.encode({member = member, login = login, email = email}))
return str(id)
