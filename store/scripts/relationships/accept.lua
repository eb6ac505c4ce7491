-- Turns an approved request into a follow, on the asking side.
-- KEYS: user, following, requested.
-- ARGV: member (who approved), edge, follower, mailboxes ('' to notify nobody).
-- Returns 1, also when repeated; 0 when the request was withdrawn meanwhile or the asking member is gone.
if redis.call('EXISTS', user) == 0 then
  return 0
end
local asked, follows = redis.call('ZSCORE', requested, member), redis.call('ZSCORE', following, member)
if asked and tonumber(asked) == tonumber(edge) then
  redis.call('ZREM', requested, member)
  redis.call('ZADD', following, edge, member)
  redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
  notify(mailbox(mailboxes, follower), 'FOLLOW_APPROVED', member)
  return 1
end
return follows and tonumber(follows) == tonumber(edge) and 1 or 0
