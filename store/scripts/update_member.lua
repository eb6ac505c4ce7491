-- Changes fields of the profile and the credentials together.
-- KEYS minted, jobs, user, credentials
-- ARGV partition, member, job body or '', number of profile pairs, profile pairs, credential pairs
-- Returns the job's id, '' when no name changed, false when there is no such member.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return false
end
local split = 4 + tonumber(ARGV[4]) * 2
for i = 5, split, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = split + 1, #ARGV, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
if ARGV[3] == '' then
  return ''
end
local id = mint(KEYS[1], ARGV[1])
commit(KEYS[2], id, 'names', ARGV[3])
return str(id)
