-- Deletes a comment. KEYS status, comments, comment, rescore, commenters; ARGV comment, channel, post
-- Returns 1, 0 when it is gone already.
if redis.call('DEL', KEYS[3]) == 0 then
  return 0
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'comments', redis.call('ZCARD', KEYS[2]))
  changed(ARGV[2], KEYS[4], ARGV[3])
end
return 1
