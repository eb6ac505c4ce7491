-- Hides a status or quote of its author, or shows it again, with the job that applies the change everywhere else.
-- KEYS minted, jobs, status, user, profile, hidden; ARGV partition, post, author, 'hide' or 'unhide', channel
-- Returns the job's id and body, {} when nothing changes, false when the author has no such post.
local names = {
  'author', 'hashtags', 'original', 'original_author', 'of_quote', 'reply_to', 'root', 'reply_to_author', 'text',
  'latitude', 'longitude', 'unannounced',
}
local fields = redis.call('HMGET', KEYS[3], unpack(names))
if fields[1] ~= ARGV[3] then
  return false
end
local count
if ARGV[4] == 'hide' then
  count = redis.call('ZADD', KEYS[6], ARGV[2], ARGV[2])
  redis.call('HSET', KEYS[3], 'hidden', 1)
else
  count = redis.call('ZREM', KEYS[6], ARGV[2])
  redis.call('HDEL', KEYS[3], 'hidden')
end
if count == 0 then
  return {}
end
count_posts(KEYS[4], KEYS[5], KEYS[6])
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({
  post = ARGV[2], author = ARGV[3], hashtags = fields[2] or '', original = fields[3] or '',
  original_author = fields[4] or '', of_quote = fields[5] or '', plain = false,
  reply_to = fields[6] or '', root = fields[7] or '', reply_to_author = fields[8] or '',
  text = fields[9], latitude = fields[10] or '', longitude = fields[11] or '', is_public = not fields[12],
})
commit(KEYS[2], id, ARGV[4], body)
redis.call('PUBLISH', ARGV[5], '')
return {str(id), body}
