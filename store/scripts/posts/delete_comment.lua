-- Deletes a comment, with the job that withdraws its mentions and logs a moderator's act.
-- KEYS: minted, jobs, status, comments, comment, rescore, commenters.
-- ARGV: partition, id (of the comment), channel, post, mailboxes, act? (JSON).
-- Returns the job's id and body, {} without such a job, or GONE.
local author, mentions, text = unpack(redis.call(
  'HMGET', comment, CommentField.AUTHOR, CommentField.MENTIONS, CommentField.TEXT
))
if redis.call('DEL', comment) == 0 then
  return Refusal.GONE
end
redis.call('ZREM', comments, id)
redis.call('ZREM', commenters, id)
if redis.call('EXISTS', status) == 1 then
  redis.call('HSET', status, StatusField.COMMENTS, redis.call('ZCARD', comments))
  changed(channel, rescore, post)
  withdraw(mailbox(mailboxes, redis.call('HGET', status, StatusField.AUTHOR)), 'COMMENT', author, post, id)
end
if not mentions and not act then
  return {}
end
return {commit_job(jobs, minted, partition, 'unmention', {
  comment = id, post = post, author = author, mentions = mentions or '', act = carried(act, text),
})}
