-- Deletes a post from its author's partition, with the job that removes it everywhere else.
-- Its likes, comments and reposts stay until the job has read them. Without the status, none is shown or added.
-- KEYS minted, jobs, progress, status, user, profile, home, home state, sources, newest, reposted, hidden, dead jobs
-- ARGV partition, post, author, channel
-- Returns the job's id and body, false when the post is gone or is not the author's.
local names = {
  'author', 'text', 'hashtags', 'original', 'original_author', 'of_quote', 'reply_to', 'root', 'reply_to_author',
  'mentions', 'latitude', 'longitude', 'unannounced',
}
local fields = redis.call('HMGET', KEYS[4], unpack(names))
if fields[1] ~= ARGV[3] then
  return false
end
local original = fields[4] or ''
local plain = original ~= '' and fields[2] == ''
redis.call('DEL', KEYS[4])
redis.call('ZREM', KEYS[6], plain and ARGV[2] .. ':' .. original .. ':' .. fields[5] or ARGV[2])
redis.call('ZREM', KEYS[12], ARGV[2])
if redis.call('HGET', KEYS[5], 'pinned') == ARGV[2] then
  redis.call('HDEL', KEYS[5], 'pinned')
end
if redis.call('EXISTS', KEYS[5]) == 1 then -- not while the whole account is being deleted
  count_posts(KEYS[5], KEYS[6], KEYS[12])
end
open_home({home = KEYS[7], state = KEYS[8], newest = KEYS[10]}, true)
redis.call('LREM', KEYS[7], -1, ARGV[2])
redis.call('HDEL', KEYS[9], ARGV[2])
if plain then
  redis.call('HDEL', KEYS[11], original)
end
-- A running delivery stops at its next checkpoint. `overtook` tells the job that one batch may still be in flight.
local overtook = 0
if redis.call('EXISTS', KEYS[2]) == 1 then
  overtook = redis.call('XDEL', KEYS[2], ARGV[2] .. '-0')
  if overtook == 1 then
    redis.call('XACK', KEYS[2], 'workers', ARGV[2] .. '-0')
    redis.call('HDEL', KEYS[3], ARGV[2])
    redis.call('ZREM', KEYS[13], ARGV[2])
  end
end
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({
  post = ARGV[2], author = ARGV[3], hashtags = fields[3] or '', original = original,
  original_author = fields[5] or '', of_quote = fields[6] or '', plain = plain, overtook = overtook == 1,
  reply_to = fields[7] or '', root = fields[8] or '', reply_to_author = fields[9] or '', mentions = fields[10] or '',
  text = fields[2], latitude = fields[11] or '', longitude = fields[12] or '', is_public = not fields[13],
})
commit(KEYS[2], id, 'delete', body)
redis.call('PUBLISH', ARGV[4], '')
return {str(id), body}
