-- Fans out one post to the homes of some followers, whose partitions are on one node. Repeating it changes nothing.
-- KEYS: absent (of the partition of one of them).
-- ARGV: absent_stem, following_stem, home_stem, home_state_stem, sources_stem, newest_stem, home_size, home_slack,
--       oldest, newest_size, deliverer, post, author, repost (or ''), earlier_reposts, groups...
-- `oldest` is the highest id that is too old for a home, or 0. `newest_size` is the most entries in `newest`.
-- `author` wrote the post. `groups` has of each partition its hash tag, the number of followers and the followers.
-- Returns the hash tags of the partitions that are not, or no longer, on this node.
-- A follower who has unfollowed the deliverer since the list of followers was read gets nothing.
local delivery = begin_delivery({
  stems = {
    following = following_stem, home = home_stem, state = home_state_stem, sources = sources_stem, newest = newest_stem,
  },
  home_size = home_size, home_slack = home_slack, oldest = oldest, newest_size = newest_size, deliverer = deliverer,
  post = post, author = author, repost = repost, earlier_reposts = earlier_reposts,
})
return each_partition(absent_stem, groups, function(tags)
  local following = {}
  for _, tag in ipairs(tags) do
    if redis.call('ZSCORE', following_stem .. tag, deliverer) then
      following[#following + 1] = tag
    end
  end
  deliver_here(delivery, following)
end)
