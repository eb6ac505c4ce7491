-- Fans out one post to the homes of some followers, whose partitions are on one node. Repeating it changes nothing.
-- KEYS: absent (of the partition of one of them).
-- ARGV: lift, home_size, home_slack, oldest, newest_size, deliverer, post, author, repost (or ''), earlier_reposts,
--       groups...
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0. `newest_size` is the most entries in `newest`.
-- `author` wrote the post. `groups` has of each partition its hash tag, `unmerged`, the number of followers and the
-- followers. `unmerged` is as it was before the followers were read, or '' when it is not known.
-- Returns the hash tags of the partitions that are not, or no longer, on this node. Then returns pairs of another
-- partition's hash tag and `unmerged` where it has changed.
-- A follower who has unfollowed the deliverer since the list of followers was read gets nothing.
local delivery = begin_delivery({
  lift = lift, home_size = home_size, home_slack = home_slack, oldest = oldest, newest_size = newest_size,
  deliverer = deliverer, post = post, author = author, repost = repost, earlier_reposts = earlier_reposts,
})

-- Removes from `keys` and `ends` the homes of members who do not follow the deliverer.
local function drop_former_followers(keys, ends)
  local kept = 2
  for i = 3, #keys do
    local key, value = keys[i], ends[i]
    keys[i] = nil
    if redis.call('ZSCORE', Stem.following .. string.sub(key, #Stem.newest + 1), deliverer) then
      kept = kept + 1
      keys[kept], ends[kept] = key, value
    end
  end
end

local left, changed, first = {}, {}, 1
while first <= #groups do
  local partition, known, last = groups[first], groups[first + 1], first + 2 + groups[first + 2]
  local keys, stem = {Stem.absent .. partition, Stem.unmerged .. partition}, Stem.newest .. partition .. ':'
  for i = first + 3, last do
    keys[i - first] = stem .. groups[i]
  end
  -- One command asks whether the slot is here, reads `unmerged`, and reads the ends of the homes.
  local ends = redis.pcall('MGET', unpack(keys, 1, delivery.is_newest and #keys or 2))
  if ends.err then
    left[#left + 1] = partition
  else
    local unmerged = ends[2] or '0'
    if unmerged ~= known then
      drop_former_followers(keys, ends)
      changed[#changed + 1] = partition
      changed[#changed + 1] = unmerged
    end
    deliver_here(delivery, keys, delivery.is_newest and ends, 3)
  end
  first = last + 1
end
return {left, changed}
