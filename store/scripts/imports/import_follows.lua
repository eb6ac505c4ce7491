-- Commits follows of an import on the followers' side, with the job that applies them on the other sides.
-- KEYS: minted, jobs.
-- ARGV: partition, max_following, follows... (of each follower: the follower, a number, so many members).
-- A follow that exists or was asked for stays as it is. Blocks, in both directions, and `max_following` prevent one, and
-- followers who are gone have none.
-- Returns the job's id and body; false when nothing changed.
local edges = {}

-- Returns the members who can be followed.
local function new_ones(tag, members)
  local found, fresh = redis.call('ZMSCORE', Stem.following .. tag, unpack(members)), {}
  local others = {Stem.requested .. tag, Stem.blocked .. tag, Stem.blocked_by .. tag}
  local are_simple = redis.call('EXISTS', unpack(others)) == 0
  for i, member in ipairs(members) do
    local is_new = not found[i]
    for _, set in ipairs(are_simple and {} or others) do
      is_new = is_new and not redis.call('ZSCORE', set, member)
    end
    fresh[#fresh + 1] = is_new and member or nil
  end
  return fresh
end

local function follow(follower, members)
  local tag = tag_of(follower)
  local user, following = Stem.user .. tag, Stem.following .. tag
  if redis.call('EXISTS', user) == 0 then
    return
  end
  local fresh, scored = new_ones(tag, members), {}
  local room = max_following - redis.call('ZCARD', following) - redis.call('ZCARD', Stem.requested .. tag)
  local ids = mint_many(minted, partition, math.max(0, math.min(#fresh, room)))
  for i, id in ipairs(ids) do
    scored[2 * i - 1], scored[2 * i] = id, fresh[i]
  end
  if #ids > 0 then
    redis.call('ZADD', following, unpack(scored))
    redis.call('HSET', user, UserField.FOLLOWING, redis.call('ZCARD', following))
    edges[#edges + 1] = follower .. ' ' .. table.concat(scored, ' ')
  end
end

for_each_owner(follows, follow)
if #edges == 0 then
  return false
end
return {commit_job(jobs, minted, partition, 'import', {follows = edges})}
