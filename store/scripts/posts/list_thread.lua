-- Lists a reply in its conversation, together with the root unless that is deleted.
-- KEYS root's status, thread, tombstone of the reply; ARGV root, reply
if redis.call('EXISTS', KEYS[3]) == 1 then
  return 0
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[2])
return 1
