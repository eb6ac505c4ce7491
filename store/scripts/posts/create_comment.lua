-- Comments on a post, in the post's partition.
-- KEYS minted, status, comments, rescore, commenters, jobs, idempotency (optional)
-- ARGV partition, comment prefix, author, text, post, comment answered or '', channel, digest, life of the key (s),
--      mentioned members, mailboxes
-- Returns {'new', id}, with the body of the job that notifies the mentioned members if there are any;
-- {'again', id} for a retry; {'conflict'} for a key used differently; {'gone'} without the post;
-- {'no-reply'} without the comment it answers.
if redis.call('EXISTS', KEYS[2]) == 0 then
  return {'gone'}
end
if KEYS[7] then
  local first = redis.call('GET', KEYS[7])
  if first then
    local digest, id = string.match(first, '^(%S+) (%d+)$')
    return digest == ARGV[8] and {'again', id} or {'conflict'}
  end
end
if ARGV[6] ~= '' and not redis.call('ZSCORE', KEYS[3], ARGV[6]) then
  return {'no-reply'}
end
local id = str(mint(KEYS[1], ARGV[1]))
redis.call('HSET', ARGV[2] .. id, 'author', ARGV[3], 'text', ARGV[4], 'post', ARGV[5])
if ARGV[6] ~= '' then
  redis.call('HSET', ARGV[2] .. id, 'reply_to', ARGV[6])
end
redis.call('ZADD', KEYS[3], id, id)
redis.call('ZADD', KEYS[5], ARGV[3], id)
redis.call('HSET', KEYS[2], 'comments', redis.call('ZCARD', KEYS[3]))
if KEYS[7] then
  redis.call('SET', KEYS[7], ARGV[8] .. ' ' .. id, 'EX', ARGV[9])
end
changed(ARGV[7], KEYS[4], ARGV[5])
notify(mailbox(ARGV[11], redis.call('HGET', KEYS[2], 'author')), 'COMMENT', ARGV[3], ARGV[5], id)
if ARGV[10] == '' then
  return {'new', id}
end
redis.call('HSET', ARGV[2] .. id, 'mentions', ARGV[10])
local body = cjson.encode({comment = id, post = ARGV[5], author = ARGV[3], mentions = ARGV[10]})
commit(KEYS[6], tonumber(id), 'mentions', body)
return {'new', id, body}
