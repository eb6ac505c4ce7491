-- Lists a reply in its conversation, together with the root unless that is deleted.
-- KEYS: status (of the root), thread, tombstone (of the reply).
-- ARGV: root, reply.
if redis.call('EXISTS', tombstone) == 1 then
  return 0
end
if redis.call('EXISTS', status) == 1 then
  redis.call('ZADD', thread, root, root)
end
redis.call('ZADD', thread, reply, reply)
return 1
