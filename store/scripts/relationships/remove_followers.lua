-- Ends others' follows of a member, or their requests, on the member's side, with the job that ends them on theirs.
-- KEYS: minted, jobs, user, followers, requests.
-- ARGV: partition, member, kind ('remove_followers' or 'reject'), tombstone_prefix, ttl (s, of the tombstones),
--       big_author_threshold, mailboxes, others...
-- `others` are pairs: a member, and their follow or request on their own side as it was read before ('' for none).
-- Returns the job's id and body, false when nothing changed.
-- The edge's id is its version: the other side removes that edge or an older one, never a newer one.
local is_follow, ended = kind == 'remove_followers', {}
local listing, box = is_follow and followers or requests, mailbox(mailboxes, member)
for i = 1, #others, 2 do
  local other = others[i]
  local tombstone = tombstone_prefix .. other
  local at = {followers = followers, requests = requests, tombstone = tombstone}
  local edge = on_its_way(others[i + 1], other, at) or redis.call('ZSCORE', listing, other)
  if edge then
    redis.call('ZREM', listing, other)
    redis.call('SET', tombstone, edge, 'EX', ttl)
    withdraw(box, is_follow and 'FOLLOW' or 'FOLLOW_REQUEST', other)
    ended[#ended + 1] = {other, edge}
  end
end
if #ended == 0 then
  return false
end
if is_follow and redis.call('EXISTS', user) == 1 then -- not while the account is being deleted
  weigh(user, jobs, minted, partition, member, redis.call('ZCARD', followers), big_author_threshold)
end
if is_follow then
  return {commit_job(jobs, minted, partition, 'remove_followers', {member = member, edges = ended})}
end
return {commit_job(jobs, minted, partition, 'reject', {member = member, asked = ended})}
