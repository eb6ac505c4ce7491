-- Adds a member to the index of those who favourite a post. KEYS status, favouriters; ARGV member
-- Returns 1, 0 when the post is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
return 1
