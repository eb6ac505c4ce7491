-- Applies follows of an import on the followed side, where nothing but an older follow can be in the way.
-- KEYS: minted, jobs.
-- ARGV: partition, big_author_threshold, follows... (of each member: the member, a number, so many edges and followers).
-- Returns places of members in `follows`. Each follow of these has to be looked at by itself. The member is gone, blocks
-- or is asked by somebody, or has ended one of these follows. Then, if members have another magnitude, the id and
-- body of the job that moves their names.
local left, moved = {}, {}

local function apply(member, words, place)
  local tag = tag_of(member)
  local user, followers = Stem.user .. tag, Stem.followers .. tag
  local obstacles = {Stem.blocked .. tag, Stem.requests .. tag}
  for j = 2, #words, 2 do
    obstacles[#obstacles + 1] = Stem.unfollowed_prefix .. tag .. ':' .. words[j]
  end
  local login, magnitude, reach =
    unpack(redis.call('HMGET', user, UserField.LOGIN, UserField.MAGNITUDE, UserField.REACH))
  if not login or redis.call('EXISTS', unpack(obstacles)) > 0 then
    left[#left + 1] = place
    return
  end
  redis.call('ZADD', followers, 'GT', unpack(words))
  local count, known = redis.call('ZCARD', followers), tonumber(magnitude or '0')
  local is = magnitude_of(count, known)
  if is == known then
    redis.call('HSET', user, UserField.FOLLOWERS, count)
  else
    redis.call('HSET', user, UserField.FOLLOWERS, count, UserField.MAGNITUDE, is)
    moved[#moved + 1] = member
  end
  update_reach(user, jobs, minted, partition, member, count, big_author_threshold, reach)
end

for_each_owner(follows, apply)
if #moved == 0 then
  return {left}
end
return {left, commit_job(jobs, minted, partition, 'import', {moved = moved})}
