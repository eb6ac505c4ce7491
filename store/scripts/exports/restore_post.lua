-- Writes a post from an export under the id that it had, in its author's partition. Nothing is delivered.
-- KEYS: user, status, profile, hidden, reposted.
-- ARGV: author, id, status_prefix, content (JSON), is_hidden ('1' or '').
-- `content` has the fields of the post that are not absent. A plain repost is written only if its original is a
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
local post = with_absent(cjson.decode(content))
local plain = post.original ~= '' and post.text == ''
if plain and redis.call('HEXISTS', reposted, post.original) == 1 then
  return 0
end
if plain and redis.call('HGET', status_prefix .. post.original, StatusField.AUTHOR) ~= author then
  return Refusal.GONE
end
write_post(status, author, post)
if redis.call('HEXISTS', user, UserField.PRIVATE) + redis.call('HEXISTS', user, UserField.SUSPENDED) > 0 then
  redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
end
redis.call('ZADD', profile, id, profile_entry(id, plain, post))
if is_hidden ~= '' then
  redis.call('HSET', status, StatusField.HIDDEN, '1')
  redis.call('ZADD', hidden, id, id)
end
count_posts(user, profile, hidden)
if plain then
  redis.call('HSET', reposted, post.original, id)
end
return 1
