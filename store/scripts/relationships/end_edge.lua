-- Removes a follow or request, or an older version of it, on the follower's side after the followed member ended it.
-- KEYS: user, following, requested.
-- ARGV: member (who was followed), edge, follower, mailboxes ('' to notify nobody).
-- Returns 1 when there was one, else 0.
for _, set in ipairs({following, requested}) do
  local known = redis.call('ZSCORE', set, member)
  if known and tonumber(known) <= tonumber(edge) then
    redis.call('ZREM', set, member)
    withdraw(mailbox(mailboxes, follower), 'FOLLOW_APPROVED', member)
    if set == following and redis.call('EXISTS', user) == 1 then
      redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
    end
    return 1
  end
end
return 0
