-- Ends a member's own follows and requests on their side, with the job that ends them on the other sides.
-- KEYS: minted, jobs, user, following, requested.
-- ARGV: partition, member, mailboxes, others...
-- Returns the job's id and body, false when nothing changed.
-- The edge's id is its version: the other side removes that edge or an older one, never a newer one.
local edges, asked = {}, {}
local box = mailbox(mailboxes, member)
for _, other in ipairs(others) do
  for set, ended in pairs({[following] = edges, [requested] = asked}) do
    local edge = redis.call('ZSCORE', set, other)
    if edge then
      redis.call('ZREM', set, other)
      withdraw(box, 'FOLLOW_APPROVED', other)
      ended[#ended + 1] = {other, edge}
    end
  end
end
if #edges + #asked == 0 then
  return false
end
if redis.call('EXISTS', user) == 1 then -- not while the account is being deleted
  redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
end
return {commit_job(jobs, minted, partition, 'unfollow', {member = member, edges = edges, asked = asked})}
