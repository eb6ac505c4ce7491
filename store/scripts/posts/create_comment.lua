-- Comments on a post, in the post's partition.
-- KEYS: minted, status, comments, rescore, commenters, jobs, idempotency?
-- ARGV: partition, comment_prefix, author, text, post, reply_to (or ''), channel, digest, ttl (s), mentions, mailboxes,
--       refused.
-- `reply_to` is the comment that this one answers. `ttl` is that of the idempotency key.
-- `mentions` are members, separated by spaces. `refused` is why the author may make no new comment now, else ''.
-- Returns {id, body of the job that notifies the mentioned members, '' without any}, {id} for a retry, CONFLICT, GONE
-- without the post, NO_COMMENT without the comment that is answered, or `refused`.
if redis.call('EXISTS', status) == 0 then
  return Refusal.GONE
end
local first = first_result(idempotency, digest)
if first then
  return first
end
if reply_to ~= '' and not redis.call('ZSCORE', comments, reply_to) then
  return Refusal.NO_COMMENT
end
if refused ~= '' then
  return refused
end
local id = str(mint(minted, partition))
local comment = comment_prefix .. id
redis.call('HSET', comment, CommentField.AUTHOR, author, CommentField.TEXT, text, CommentField.POST, post)
if reply_to ~= '' then
  redis.call('HSET', comment, CommentField.REPLY_TO, reply_to)
end
redis.call('ZADD', comments, id, id)
redis.call('ZADD', commenters, author, id)
redis.call('HSET', status, StatusField.COMMENTS, redis.call('ZCARD', comments))
remember_result(idempotency, digest, id, ttl)
changed(channel, rescore, post)
notify(mailbox(mailboxes, redis.call('HGET', status, StatusField.AUTHOR)), 'COMMENT', author, post, id)
if mentions == '' then
  return {id, ''}
end
redis.call('HSET', comment, CommentField.MENTIONS, mentions)
local body = commit(jobs, tonumber(id), 'mentions', {comment = id, post = post, author = author, mentions = mentions})
return {id, body}
