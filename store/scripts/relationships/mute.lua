-- Mutes members, or ends mutes or blocks, with the job that informs live homes and, after a block, the other sides.
-- KEYS minted, jobs, user, set; ARGV partition, member, most in the set, 'mute', 'unmute' or 'unblock', mailboxes,
--      others...
-- Returns the job's id and body ('' when nothing changed), then per member 'new', 'already' or 'limit'.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges = {'', ''}, {}
local count = redis.call('ZCARD', KEYS[4])
for i = 6, #ARGV do
  local known = redis.call('ZSCORE', KEYS[4], ARGV[i])
  if (ARGV[4] == 'mute') == (known and true or false) then
    result[#result + 1] = 'already'
  elseif known then
    redis.call('ZREM', KEYS[4], ARGV[i])
    edges[#edges + 1] = {ARGV[i], known}
    result[#result + 1] = 'new'
  elseif count >= tonumber(ARGV[3]) then
    result[#result + 1] = 'limit'
  else
    local id = str(mint(KEYS[1], ARGV[1]))
    redis.call('ZADD', KEYS[4], id, ARGV[i])
    withdraw_by(mailbox(ARGV[5], ARGV[2]), ARGV[i])
    count = count + 1
    edges[#edges + 1] = {ARGV[i], id}
    result[#result + 1] = 'new'
  end
end
if #edges > 0 then
  local id = mint(KEYS[1], ARGV[1])
  local body = cjson.encode({member = ARGV[2], edges = edges})
  commit(KEYS[2], id, ARGV[4], body)
  result[1], result[2] = str(id), body
end
return result
