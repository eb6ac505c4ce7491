-- Comments on a post, in the post's partition.
-- KEYS minted, status, comments, rescore, commenters, idempotency (optional)
-- ARGV partition, comment prefix, author, text, post, comment answered or '', channel, digest, life of the key (s)
-- Returns {'new', id}, {'again', id} for a retry, {'conflict'}, {'gone'} without the post, {'no-reply'} without the
-- comment it answers.
if redis.call('EXISTS', KEYS[2]) == 0 then
  return {'gone'}
end
if KEYS[6] then
  local first = redis.call('GET', KEYS[6])
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
if KEYS[6] then
  redis.call('SET', KEYS[6], ARGV[8] .. ' ' .. id, 'EX', ARGV[9])
end
changed(ARGV[7], KEYS[4], ARGV[5])
return {'new', id}
