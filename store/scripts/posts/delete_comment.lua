-- Deletes a comment, with the job that withdraws its mentions.
-- KEYS minted, jobs, status, comments, comment, rescore, commenters; ARGV partition, comment, channel, post, mailboxes
-- Returns the job's id and body, {} when it mentions nobody, false when it is gone already.
local fields = redis.call('HMGET', KEYS[5], 'author', 'mentions')
if redis.call('DEL', KEYS[5]) == 0 then
  return false
end
redis.call('ZREM', KEYS[4], ARGV[2])
redis.call('ZREM', KEYS[7], ARGV[2])
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HSET', KEYS[3], 'comments', redis.call('ZCARD', KEYS[4]))
  changed(ARGV[3], KEYS[6], ARGV[4])
  withdraw(mailbox(ARGV[5], redis.call('HGET', KEYS[3], 'author')), 'COMMENT', fields[1], ARGV[4], ARGV[2])
end
if not fields[2] then
  return {}
end
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({comment = ARGV[2], post = ARGV[4], author = fields[1], mentions = fields[2]})
commit(KEYS[2], id, 'unmention', body)
return {str(id), body}
