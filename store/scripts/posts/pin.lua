-- Pins a status or quote of a member's own to their profile, in place of the one pinned before.
-- KEYS: user, status.
-- ARGV: post, member.
-- Returns 1, 0 when it is pinned already, or a refusal: PLAIN, HIDDEN, or GONE when the member has no such post.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local author, text, original, hidden =
  unpack(redis.call('HMGET', status, StatusField.AUTHOR, StatusField.TEXT, StatusField.ORIGINAL, StatusField.HIDDEN))
if author ~= member then
  return Refusal.GONE
end
if original and text == '' then
  return Refusal.PLAIN
end
if redis.call('HGET', user, UserField.PINNED) == post then
  return 0
end
if hidden then
  return Refusal.HIDDEN
end
redis.call('HSET', user, UserField.PINNED, post)
return 1
