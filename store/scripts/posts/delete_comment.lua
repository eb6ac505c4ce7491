-- Deletes a comment, with the job that withdraws its mentions.
-- KEYS: minted, jobs, status, comments, comment, rescore, commenters.
-- ARGV: partition, id (of the comment), channel, post, mailboxes.
-- Returns the job's id and body, {} when it mentions nobody, false when it is gone already.
local author, mentions = unpack(redis.call('HMGET', comment, CommentField.AUTHOR, CommentField.MENTIONS))
if redis.call('DEL', comment) == 0 then
  return false
end
redis.call('ZREM', comments, id)
redis.call('ZREM', commenters, id)
if redis.call('EXISTS', status) == 1 then
  redis.call('HSET', status, StatusField.COMMENTS, redis.call('ZCARD', comments))
  changed(channel, rescore, post)
  withdraw(mailbox(mailboxes, redis.call('HGET', status, StatusField.AUTHOR)), 'COMMENT', author, post, id)
end
if not mentions then
  return {}
end
local job = mint(minted, partition)
local body = cjson.encode({comment = id, post = post, author = author, mentions = mentions})
commit(jobs, job, 'unmention', body)
return {str(job), body}
