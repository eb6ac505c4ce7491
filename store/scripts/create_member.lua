-- Creates a member whose names are reserved, with the job that makes the names lasting.
-- KEYS jobs, user, credentials, home state
-- ARGV member, login, name, e-mail, password hash, role
-- Returns 1; 0 when the member exists already (the same work repeated).
local member = ARGV[1]
if redis.call('EXISTS', KEYS[2]) == 1 then
  return 0
end
redis.call('HSET', KEYS[2], 'login', ARGV[2], 'name', ARGV[3], 'bio', '', 'followers', 0, 'following', 0, 'posts', 0)
redis.call('HSET', KEYS[3], 'email', ARGV[4], 'password', ARGV[5], 'role', ARGV[6])
redis.call('HSET', KEYS[4], 'floor', 0)
commit(KEYS[1], tonumber(member), 'names', cjson.encode({member = member, login = ARGV[2], email = ARGV[4]}))
return 1
