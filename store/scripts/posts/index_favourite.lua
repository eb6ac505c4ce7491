-- Adds a member to the index of those who favourite a post.
-- KEYS: status, favouriters.
-- ARGV: member.
-- Returns 1, 0 when the post is gone.
if redis.call('EXISTS', status) == 0 then
  return 0
end
redis.call('ZADD', favouriters, member, member)
return 1
