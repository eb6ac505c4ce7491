-- Pins a status or quote of a member's own to their profile, in place of the one pinned before.
-- KEYS: user, status.
-- ARGV: post, member.
-- Returns 'new', 'again' when it is pinned already, 'hidden', 'plain' for a plain repost, 'gone' when the member has no
-- such post.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local author, text, original, hidden =
  unpack(redis.call('HMGET', status, StatusField.AUTHOR, StatusField.TEXT, StatusField.ORIGINAL, StatusField.HIDDEN))
if author ~= member then
  return 'gone'
end
if original and text == '' then
  return 'plain'
end
if redis.call('HGET', user, UserField.PINNED) == post then
  return 'again'
end
if hidden then
  return 'hidden'
end
redis.call('HSET', user, UserField.PINNED, post)
return 'new'
