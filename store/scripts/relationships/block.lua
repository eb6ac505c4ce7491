-- Blocks members on the blocking side, with the job that applies the blocks on the other sides.
-- A block ends follows and requests in both directions.
-- KEYS minted, jobs, user, following, followers, requested, requests, blocked
-- ARGV partition, member, most blocked, tombstone prefix, tombstone's life (s), followers that make a big author,
--      mailboxes, others...
-- Returns the job's id and body ('' when nothing changed), then per member 'new', 'already' or 'limit'.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, blocks, ended = {'', ''}, {}, {}
local count = redis.call('ZCARD', KEYS[8])
for i = 8, #ARGV do
  local other = ARGV[i]
  if redis.call('ZSCORE', KEYS[8], other) then
    result[#result + 1] = 'already'
  elseif count >= tonumber(ARGV[3]) then
    result[#result + 1] = 'limit'
  else
    local id = str(mint(KEYS[1], ARGV[1]))
    redis.call('ZADD', KEYS[8], id, other)
    withdraw_by(mailbox(ARGV[7], ARGV[2]), other)
    count = count + 1
    blocks[#blocks + 1] = {other, id}
    result[#result + 1] = 'new'
    for k, name in ipairs({'following', 'followers', 'requested', 'requests'}) do
      local edge = redis.call('ZSCORE', KEYS[k + 3], other)
      if edge then
        redis.call('ZREM', KEYS[k + 3], other)
        ended[name] = ended[name] or {}
        table.insert(ended[name], {other, edge})
        if name == 'followers' or name == 'requests' then
          redis.call('SET', ARGV[4] .. other, edge, 'EX', ARGV[5])
        end
      end
    end
  end
end
if #blocks > 0 then
  redis.call('HSET', KEYS[3], 'following', redis.call('ZCARD', KEYS[4]))
  weigh(KEYS[3], KEYS[2], KEYS[1], ARGV[1], ARGV[2], redis.call('ZCARD', KEYS[5]), ARGV[6])
  local id = mint(KEYS[1], ARGV[1])
  ended.member, ended.blocks = ARGV[2], blocks
  local body = cjson.encode(ended)
  commit(KEYS[2], id, 'block', body)
  result[1], result[2] = str(id), body
end
return result
