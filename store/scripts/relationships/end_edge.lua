-- Removes a follow or request, or an older version of it, on the follower's side after the followed member ended it.
-- KEYS user, following, requested; ARGV followed member, edge, follower, mailboxes
-- Returns 1 when there was one, else 0.
for _, set in ipairs({KEYS[2], KEYS[3]}) do
  local known = redis.call('ZSCORE', set, ARGV[1])
  if known and tonumber(known) <= tonumber(ARGV[2]) then
    redis.call('ZREM', set, ARGV[1])
    withdraw(mailbox(ARGV[4], ARGV[3]), 'FOLLOW_APPROVED', ARGV[1])
    if set == KEYS[2] and redis.call('EXISTS', KEYS[1]) == 1 then
      redis.call('HSET', KEYS[1], 'following', redis.call('ZCARD', set))
    end
    return 1
  end
end
return 0
