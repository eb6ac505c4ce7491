-- Approves follow requests on the followed side, with the job that applies the approvals on the asking sides.
-- KEYS minted, jobs, user, followers, requests; ARGV partition, member, followers that make a big author, mailboxes,
--      who asked...
-- Returns the job's id and body, false when none of them had asked.
local edges = {}
if redis.call('EXISTS', KEYS[3]) == 1 then
  for i = 5, #ARGV do
    local edge = redis.call('ZSCORE', KEYS[5], ARGV[i])
    if edge then
      redis.call('ZREM', KEYS[5], ARGV[i])
      redis.call('ZADD', KEYS[4], edge, ARGV[i])
      withdraw(mailbox(ARGV[4], ARGV[2]), 'FOLLOW_REQUEST', ARGV[i])
      edges[#edges + 1] = {ARGV[i], edge}
    end
  end
end
if #edges == 0 then
  return false
end
weigh(KEYS[3], KEYS[2], KEYS[1], ARGV[1], ARGV[2], redis.call('ZCARD', KEYS[4]), ARGV[3])
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({member = ARGV[2], edges = edges})
commit(KEYS[2], id, 'approve', body)
return {str(id), body}
