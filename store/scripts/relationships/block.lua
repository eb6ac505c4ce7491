-- Blocks members on the blocking side, with the job that applies the blocks on the other sides.
-- A block ends follows and requests in both directions.
-- KEYS: minted, jobs, user, following, followers, requested, requests, blocked.
-- ARGV: partition, member, max_blocked, tombstone_prefix, ttl (s, of the tombstones), big_author_threshold,
--       mailboxes, others...
-- `others` are pairs: a member, and their follow or request on their own side as it was read before ('' for none).
-- Returns the job's id and body ('' when nothing changed), then per member FULL, or '' for who is not refused.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local sets = {following = following, followers = followers, requested = requested, requests = requests}
local result, blocks = {'', ''}, {}
local ended = {following = {}, followers = {}, requested = {}, requests = {}}
local count = redis.call('ZCARD', blocked)
for i = 1, #others, 2 do
  local other = others[i]
  result[#result + 1] = ''
  if count >= tonumber(max_blocked) and not redis.call('ZSCORE', blocked, other) then
    result[#result] = Refusal.FULL
  elseif not redis.call('ZSCORE', blocked, other) then
    local id = str(mint(minted, partition))
    redis.call('ZADD', blocked, id, other)
    withdraw_by(mailbox(mailboxes, member), other)
    count = count + 1
    blocks[#blocks + 1] = {other, id}
    local tombstone = tombstone_prefix .. other
    local late = on_its_way(others[i + 1], other, {followers = followers, requests = requests, tombstone = tombstone})
    for name, set in pairs(sets) do
      local edge = redis.call('ZSCORE', set, other)
      if edge then
        redis.call('ZREM', set, other)
        table.insert(ended[name], {other, edge})
        if set == followers or set == requests then
          redis.call('SET', tombstone, edge, 'EX', ttl)
        end
      end
    end
    if late then
      table.insert(ended.followers, {other, late})
      redis.call('SET', tombstone, late, 'EX', ttl)
    end
  end
end
if #blocks > 0 then
  redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
  weigh(user, jobs, minted, partition, member, redis.call('ZCARD', followers), big_author_threshold)
  result[1], result[2] = commit_job(jobs, minted, partition, 'block', {
    member = member, blocks = blocks, following = ended.following, followers = ended.followers,
    requested = ended.requested, requests = ended.requests,
  })
end
return result
