-- Commits follows and follow requests on the follower's side, with the job that applies them on the other sides.
-- KEYS: minted, jobs, user, following, requested, blocked, blocked_by, writes.
-- ARGV: partition, follower, max_following, most_in_hour, ask_count, mailboxes, others...
-- `max_following` limits follows and requests together, and so does `most_in_hour`, '' for no limit.
-- `others` are pairs: a member, and what their side said before: 'blocks' if they block the follower, else the newest of
-- the follower's edges that their side has ended, '' for none. The end of that edge may be on its way here.
-- The first `ask_count` of the others are asked, the rest are followed.
-- Returns the job's id and body ('' when nothing changed), then one answer per member: BLOCKED for whom the follower
-- blocks, GONE for who blocks the follower, FULL, HOUR, or '' for who is not refused.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges, asked = {'', ''}, {}, {}
local count = redis.call('ZCARD', following) + redis.call('ZCARD', requested)
for i = 1, #others, 2 do
  local other, there = others[i], others[i + 1]
  local known = redis.call('ZSCORE', following, other) or redis.call('ZSCORE', requested, other)
  if there == 'blocks' then
    result[#result + 1] = Refusal.GONE
  elseif known and tonumber(known) > (tonumber(there) or 0) then
    result[#result + 1] = ''
  elseif redis.call('ZSCORE', blocked, other) then
    result[#result + 1] = Refusal.BLOCKED
  elseif redis.call('ZSCORE', blocked_by, other) then
    result[#result + 1] = Refusal.GONE
  elseif count - (known and 1 or 0) >= tonumber(max_following) then
    result[#result + 1] = Refusal.FULL
  elseif most_in_hour ~= '' and not count_write(writes, 'follows', most_in_hour) then
    result[#result + 1] = Refusal.HOUR
  else
    if known then -- The followed side has ended it.
      redis.call('ZREM', following, other)
      redis.call('ZREM', requested, other)
      withdraw(mailbox(mailboxes, follower), 'FOLLOW_APPROVED', other)
    end
    local edge, asks = str(mint(minted, partition)), i < 2 * tonumber(ask_count)
    local made = asks and asked or edges
    redis.call('ZADD', asks and requested or following, edge, other)
    made[#made + 1] = {other, edge}
    count = count + (known and 0 or 1)
    result[#result + 1] = ''
  end
end
if #edges + #asked > 0 then
  redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
  result[1], result[2] = commit_job(jobs, minted, partition, 'follow', {follower = follower, edges = edges, asked = asked})
end
return result
