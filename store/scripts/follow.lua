-- Commits follows of one member on their own side, with the job that tells the others.
-- KEYS minted, jobs, user, following; ARGV partition, follower, most followed, members to follow...
-- Returns the job's id and body ('' when nothing changed), then per member 'new', 'already' or 'limit'.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges = {'', ''}, {}
local count = redis.call('ZCARD', KEYS[4])
for i = 4, #ARGV do
  if redis.call('ZSCORE', KEYS[4], ARGV[i]) then
    result[#result + 1] = 'already'
  elseif count >= tonumber(ARGV[3]) then
    result[#result + 1] = 'limit'
  else
    local edge = str(mint(KEYS[1], ARGV[1]))
    redis.call('ZADD', KEYS[4], edge, ARGV[i])
    count = count + 1
    edges[#edges + 1] = {ARGV[i], edge}
    result[#result + 1] = 'new'
  end
end
if #edges > 0 then
  redis.call('HSET', KEYS[3], 'following', count)
  local id = mint(KEYS[1], ARGV[1])
  local body = cjson.encode({follower = ARGV[2], edges = edges})
  commit(KEYS[2], id, 'follow', body)
  result[1], result[2] = str(id), body
end
return result
