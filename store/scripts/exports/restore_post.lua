-- Writes a post from an export under the id that it had, in its author's partition. Nothing is delivered.
-- KEYS: user, status, profile, hidden, reposted.
-- ARGV: author, post, status_prefix, text, mentions, hashtags, original, original_author, of_quote, reply_to,
--       reply_to_author, root, latitude, longitude, is_hidden ('1' or '').
-- An argument without a value is ''. `hashtags` has each after a #. A plain repost is written only if its original is a
-- post of the same author.
-- Returns 1, 0 for a post that is there, TAKEN for one of somebody else, or GONE for a plain repost whose original is not
-- there.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local known = redis.call('HGET', status, StatusField.AUTHOR)
if known then
  return known == author and 0 or Refusal.TAKEN
end
local plain = original ~= '' and text == ''
if plain and redis.call('HEXISTS', reposted, original) == 1 then
  return 0
end
if plain and redis.call('HGET', status_prefix .. original, StatusField.AUTHOR) ~= author then
  return Refusal.GONE
end
redis.call('HSET', status, StatusField.AUTHOR, author, StatusField.TEXT, text)
for _, field in ipairs({
  {StatusField.MENTIONS, mentions}, {StatusField.HASHTAGS, hashtags}, {StatusField.ORIGINAL, original},
  {StatusField.ORIGINAL_AUTHOR, original_author}, {StatusField.OF_QUOTE, of_quote}, {StatusField.REPLY_TO, reply_to},
  {StatusField.ROOT, root}, {StatusField.REPLY_TO_AUTHOR, reply_to_author}, {StatusField.LATITUDE, latitude},
  {StatusField.LONGITUDE, longitude}, {StatusField.HIDDEN, is_hidden},
}) do
  if field[2] ~= '' then
    redis.call('HSET', status, field[1], field[2])
  end
end
if redis.call('HEXISTS', user, UserField.PRIVATE) + redis.call('HEXISTS', user, UserField.SUSPENDED) > 0 then
  redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
end
redis.call('ZADD', profile, post, profile_entry(post, plain and original, original_author))
if is_hidden ~= '' then
  redis.call('ZADD', hidden, post, post)
end
count_posts(user, profile, hidden)
if plain then
  redis.call('HSET', reposted, original, post)
end
return 1
