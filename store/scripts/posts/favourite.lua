-- Favourites a post, once.
-- KEYS: minted, user, favourites.
-- ARGV: partition, post, max_favourites.
-- Returns 'new', 'again' for an existing favourite, or 'full'.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
if redis.call('ZSCORE', favourites, post) then
  return 'again'
end
if redis.call('ZCARD', favourites) >= tonumber(max_favourites) then
  return 'full'
end
redis.call('ZADD', favourites, str(mint(minted, partition)), post)
return 'new'
