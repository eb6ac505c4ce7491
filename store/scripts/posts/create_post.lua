-- Commits a status, quote or plain repost in its author's partition, with the job that delivers it.
-- KEYS minted, jobs, user, profile, home, home state, sources, newest, reposted, hidden, idempotency (optional)
-- ARGV partition, author, status prefix, text, mentions, hashtags, original or '', original's author, digest,
--      life of the idempotency key (s), home size, home slack, '1' when the original is a quote or '',
--      post answered or '', root of its conversation or '', author of the post answered or '',
--      latitude and longitude or '' and ''
-- `is_pulled` in the job means that the author is a big one, whose posts readers pull.
-- Returns {'new', id, job body}; {'again', id} for a retry or a second plain repost; {'conflict'} for a key used
-- differently.
local author, text, original = ARGV[2], ARGV[4], ARGV[7]
local plain = original ~= '' and text == ''
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
if KEYS[11] then
  local first = redis.call('GET', KEYS[11])
  if first then
    local digest, id = string.match(first, '^(%S+) (%d+)$')
    return digest == ARGV[9] and {'again', id} or {'conflict'}
  end
end
if plain then
  local id = redis.call('HGET', KEYS[9], original)
  if id then
    if KEYS[11] then
      redis.call('SET', KEYS[11], ARGV[9] .. ' ' .. id, 'EX', ARGV[10])
    end
    return {'again', id}
  end
end
local id = str(mint(KEYS[1], ARGV[1], original ~= '' and original or ARGV[14]))
local status = ARGV[3] .. id
redis.call('HSET', status, 'author', author, 'text', text)
for _, field in ipairs({
  {'mentions', ARGV[5]}, {'hashtags', ARGV[6]}, {'original', original}, {'original_author', ARGV[8]},
  {'of_quote', ARGV[13]}, {'reply_to', ARGV[14]}, {'root', ARGV[15]}, {'reply_to_author', ARGV[16]},
  {'latitude', ARGV[17]}, {'longitude', ARGV[18]},
}) do
  if field[2] ~= '' then
    redis.call('HSET', status, field[1], field[2])
  end
end
local is_public = redis.call('HEXISTS', KEYS[3], 'private') + redis.call('HEXISTS', KEYS[3], 'suspended') == 0
if not is_public then
  redis.call('HSET', status, 'unannounced', '1')
end
-- The profile's entry for a plain repost names the original and its author: reading the profile needs no status.
redis.call('ZADD', KEYS[4], id, plain and id .. ':' .. original .. ':' .. ARGV[8] or id)
count_posts(KEYS[3], KEYS[4], KEYS[10])
if plain then
  redis.call('HSET', KEYS[9], original, id)
else
  local at = {home = KEYS[5], state = KEYS[6], sources = KEYS[7], newest = KEYS[8]}
  if open_home(at) then
    move(at, id, nil, tonumber(id))
    trim(at, tonumber(ARGV[11]), tonumber(ARGV[12]), 0)
  end
end
if KEYS[11] then
  redis.call('SET', KEYS[11], ARGV[9] .. ' ' .. id, 'EX', ARGV[10])
end
local body = cjson.encode({
  author = author, hashtags = ARGV[6], original = original, original_author = ARGV[8], of_quote = ARGV[13],
  plain = plain, mentions = ARGV[5], reply_to = ARGV[14], root = ARGV[15], reply_to_author = ARGV[16],
  text = text, latitude = ARGV[17], longitude = ARGV[18],
  is_public = is_public,
  is_pulled = string.match(redis.call('HGET', KEYS[3], 'reach') or '', '%a+') == 'big',
})
commit(KEYS[2], tonumber(id), 'post', body)
return {'new', id, body}
