-- Applies follows of an import on the followed side, where nothing but an older follow can be in the way.
-- KEYS: minted, jobs.
-- ARGV: partition, big_author_threshold, follows... (of each member: the member, a number, so many edges and followers).
-- Returns the places of the members in `follows` for whom each follow has to be looked at by itself: they are gone, block
-- somebody, are asked by somebody, or have ended one of these follows.
local left, i = {}, 1
while i <= #follows do
  local member, last = follows[i], i + 1 + tonumber(follows[i + 1])
  local tag = tag_of(member)
  local user, followers = Stem.user .. tag, Stem.followers .. tag
  local obstacles = {Stem.blocked .. tag, Stem.requests .. tag}
  for j = i + 3, last, 2 do
    obstacles[#obstacles + 1] = Stem.unfollowed_prefix .. tag .. ':' .. follows[j]
  end
  if redis.call('EXISTS', user) == 1 and redis.call('EXISTS', unpack(obstacles)) == 0 then
    redis.call('ZADD', followers, 'GT', unpack(follows, i + 2, last))
    weigh(user, jobs, minted, partition, member, redis.call('ZCARD', followers), big_author_threshold)
  else
    left[#left + 1] = i - 1
  end
  i = last + 1
end
return left
