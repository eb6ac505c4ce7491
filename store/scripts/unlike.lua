-- Takes a like back. KEYS status, likes; ARGV member, channel
-- Returns 1, 0 when there was none, false when the post is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'likes', redis.call('ZCARD', KEYS[2]))
redis.call('PUBLISH', ARGV[2], '')
return 1
