-- Commits follows and follow requests on the follower's side, with the job that applies them on the other sides.
-- KEYS minted, jobs, user, following, requested, blocked, blocked by
-- ARGV partition, follower, most follows and requests, number of members to ask, members to ask...,
--      members to follow...
-- Returns the job's id and body ('' when nothing changed), then per member 'new', 'already', 'limit', 'blocks' when the
-- follower blocks them, or 'gone' when they block the follower.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges, asked = {'', ''}, {}, {}
local following, waiting = redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[5])
for i = 5, #ARGV do
  local other, asks = ARGV[i], i - 4 <= tonumber(ARGV[4])
  if redis.call('ZSCORE', KEYS[4], other) or redis.call('ZSCORE', KEYS[5], other) then
    result[#result + 1] = 'already'
  elseif redis.call('ZSCORE', KEYS[6], other) then
    result[#result + 1] = 'blocks'
  elseif redis.call('ZSCORE', KEYS[7], other) then
    result[#result + 1] = 'gone'
  elseif following + waiting + #edges + #asked >= tonumber(ARGV[3]) then
    result[#result + 1] = 'limit'
  else
    local edge, made = str(mint(KEYS[1], ARGV[1])), asks and asked or edges
    redis.call('ZADD', asks and KEYS[5] or KEYS[4], edge, other)
    made[#made + 1] = {other, edge}
    result[#result + 1] = 'new'
  end
end
if #edges + #asked > 0 then
  redis.call('HSET', KEYS[3], 'following', following + #edges)
  local id = mint(KEYS[1], ARGV[1])
  local body = cjson.encode({follower = ARGV[2], edges = edges, asked = asked})
  commit(KEYS[2], id, 'follow', body)
  result[1], result[2] = str(id), body
end
return result
