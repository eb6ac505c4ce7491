-- Ends blocks on the blocking side, with the job that ends them on the other sides.
-- KEYS: minted, jobs, user, followers, requests, blocked.
-- ARGV: partition, member, tombstone_prefix, ttl (s, of the tombstones), others...
-- `others` are pairs: a member, and their follow or request on their own side as it was read before ('' for none). Such
-- a follow was made while the block was on its way to their side. It ends, because a block ends follows.
-- Returns the job's id and body ('' when nothing changed), then '' per member: none is refused.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges, ended = {'', ''}, {}, {}
for i = 1, #others, 2 do
  local other = others[i]
  local known, tombstone = redis.call('ZSCORE', blocked, other), tombstone_prefix .. other
  result[#result + 1] = ''
  if known then
    redis.call('ZREM', blocked, other)
    edges[#edges + 1] = {other, known}
    local late = on_its_way(others[i + 1], other, {followers = followers, requests = requests, tombstone = tombstone})
    if late then
      redis.call('SET', tombstone, late, 'EX', ttl)
      ended[#ended + 1] = {other, late}
    end
  end
end
if #edges > 0 then
  result[1], result[2] = commit_job(jobs, minted, partition, 'unblock', {member = member, edges = edges, followers = ended})
end
return result
