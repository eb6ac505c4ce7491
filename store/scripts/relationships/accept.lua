-- Turns an approved request into a follow, on the asking side. KEYS user, following, requested
-- ARGV member, edge, who asked, mailboxes ('' to notify nobody)
-- Returns 1, also when repeated; 0 when the request was withdrawn meanwhile or the asking member is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local asked, follows = redis.call('ZSCORE', KEYS[3], ARGV[1]), redis.call('ZSCORE', KEYS[2], ARGV[1])
if asked and tonumber(asked) == tonumber(ARGV[2]) then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  redis.call('HSET', KEYS[1], 'following', redis.call('ZCARD', KEYS[2]))
  notify(mailbox(ARGV[4], ARGV[3]), 'FOLLOW_APPROVED', ARGV[1])
  return 1
end
return follows and tonumber(follows) == tonumber(ARGV[2]) and 1 or 0
