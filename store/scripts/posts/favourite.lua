-- Favourites a post, once.
-- KEYS: minted, user, favourites.
-- ARGV: partition, post, max_favourites.
-- Returns 1, 0 for an existing favourite, or FULL.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
if redis.call('ZSCORE', favourites, post) then
  return 0
end
if redis.call('ZCARD', favourites) >= tonumber(max_favourites) then
  return Refusal.FULL
end
redis.call('ZADD', favourites, str(mint(minted, partition)), post)
return 1
