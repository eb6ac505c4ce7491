-- Favourites a post, once. KEYS minted, user, favourites; ARGV partition, post, most favourites
-- Returns 'new', 'again' for an existing favourite, or 'full'.
if redis.call('EXISTS', KEYS[2]) == 0 then
  return redis.error_reply('PERCH no such member')
end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  return 'again'
end
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[3]) then
  return 'full'
end
redis.call('ZADD', KEYS[3], str(mint(KEYS[1], ARGV[1])), ARGV[2])
return 'new'
