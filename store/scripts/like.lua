-- Likes a post, once. KEYS minted, status, likes; ARGV partition, member, channel
-- Returns 1 when it is new, 0 when it stood, false when the post is gone.
if redis.call('EXISTS', KEYS[2]) == 0 then
  return false
end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[3], str(mint(KEYS[1], ARGV[1])), ARGV[2])
redis.call('HSET', KEYS[2], 'likes', redis.call('ZCARD', KEYS[3]))
redis.call('PUBLISH', ARGV[3], '')
return 1
