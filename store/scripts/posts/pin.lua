-- Pins a status or quote of a member's own to their profile, in place of the one pinned before.
-- KEYS user, status; ARGV post, member
-- Returns 'new', 'again' when it is pinned already, 'hidden', 'plain' for a plain repost, 'gone' when the member has no
-- such post.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return redis.error_reply('PERCH no such member')
end
local fields = redis.call('HMGET', KEYS[2], 'author', 'text', 'original', 'hidden')
if fields[1] ~= ARGV[2] then
  return 'gone'
end
if fields[3] and fields[2] == '' then
  return 'plain'
end
if redis.call('HGET', KEYS[1], 'pinned') == ARGV[1] then
  return 'again'
end
if fields[4] then
  return 'hidden'
end
redis.call('HSET', KEYS[1], 'pinned', ARGV[1])
return 'new'
