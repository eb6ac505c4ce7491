-- Creates members of one partition whose logins are reserved, with the job that makes their names permanent.
-- KEYS: minted, jobs.
-- ARGV: partition, email_domain, password_hash, role, members... (of each: the member, 1, the login).
-- Their homes are begun. A member who reads before the import builds them builds their own.
-- Returns the job's id and body; false when all of them exist already.
local made = {}
for i = 1, #members, 3 do
  local member, login = members[i], members[i + 2]
  local tag = tag_of(member)
  local user = Stem.user .. tag
  if redis.call('EXISTS', user) == 0 then
    write_member(user, Stem.credentials .. tag, {
      login = login, name = login, email = login .. '@' .. email_domain, password = password_hash, role = role,
      verified = '1',
    })
    begin_building(Stem.home_state .. tag, false)
    made[#made + 1] = member
  end
end
if #made == 0 then
  return false
end
return {commit_job(jobs, minted, partition, 'import', {members = made})}
