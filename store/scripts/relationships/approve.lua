-- Approves follow requests on the followed side, with the job that applies the approvals on the asking sides.
-- KEYS: minted, jobs, user, followers, requests.
-- ARGV: partition, member, big_author_threshold, tombstone_prefix, mailboxes, others...
-- `others` are pairs: who asked, and their request on their own side as it was read before ('' for none).
-- Returns the job's id and body, false when none of them had asked.
local edges = {}
if redis.call('EXISTS', user) == 1 then
  for i = 1, #others, 2 do
    local other = others[i]
    local at = {followers = followers, requests = requests, tombstone = tombstone_prefix .. other}
    local edge = on_its_way(others[i + 1], other, at) or redis.call('ZSCORE', requests, other)
    if edge then
      redis.call('ZREM', requests, other)
      redis.call('ZADD', followers, edge, other)
      withdraw(mailbox(mailboxes, member), 'FOLLOW_REQUEST', other)
      edges[#edges + 1] = {other, edge}
    end
  end
end
if #edges == 0 then
  return false
end
weigh(user, jobs, minted, partition, member, redis.call('ZCARD', followers), big_author_threshold)
return {commit_job(jobs, minted, partition, 'approve', {member = member, edges = edges})}
