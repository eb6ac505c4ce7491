-- Creates a member whose names are reserved, with the job that makes the names permanent.
-- KEYS minted, jobs, user, credentials, home state, active
-- ARGV partition, member, login, name, e-mail, password hash, role, day
-- Returns the job's id; '' when the member exists already, because the step is repeated.
local member = ARGV[2]
if redis.call('EXISTS', KEYS[3]) == 1 then
  return ''
end
redis.call('HSET', KEYS[3], 'login', ARGV[3], 'name', ARGV[4], 'bio', '', 'followers', 0, 'following', 0, 'posts', 0)
redis.call('HSET', KEYS[4], 'email', ARGV[5], 'password', ARGV[6], 'role', ARGV[7])
redis.call('HSET', KEYS[5], 'floor', 0)
redis.call('ZADD', KEYS[6], ARGV[8], member)
-- The job needs an id of its own. The member's id was minted before the password was hashed, and the stream may
-- already have newer jobs.
local id = mint(KEYS[1], ARGV[1])
commit(KEYS[2], id, 'names', cjson.encode({member = member, login = ARGV[3], email = ARGV[5]}))
return str(id)
