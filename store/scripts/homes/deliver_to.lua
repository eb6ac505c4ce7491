-- Fans out one post to the homes of some followers, whose partitions are on one node. Repeating it changes nothing.
-- KEYS: absent (of the partition of one of them).
-- ARGV: absent_stem, following_stem, home_stem, home_state_stem, sources_stem, newest_stem, home_size, home_slack,
--       oldest, newest_size, deliverer, post, author, repost (or ''), earlier_reposts, tags...
-- `oldest` is the highest id that is too old for a home, or 0. `newest_size` is the most entries in `newest`.
-- `author` wrote the post. `tags` are the key suffixes of the followers.
-- Returns the tags of followers whose partition is not, or no longer, on this node.
-- A follower who has unfollowed the deliverer since the list of followers was read gets nothing.
local delivery = begin_delivery({
  stems = {
    following = following_stem, home = home_stem, state = home_state_stem, sources = sources_stem, newest = newest_stem,
  },
  home_size = home_size, home_slack = home_slack, oldest = oldest, newest_size = newest_size, deliverer = deliverer,
  post = post, author = author, repost = repost, earlier_reposts = earlier_reposts,
})
local left = {}
for _, tag in ipairs(tags) do
  if not is_here(absent_stem, tag) then
    left[#left + 1] = tag
  elseif redis.call('ZSCORE', following_stem .. tag, deliverer) then
    local key = newest_stem .. tag
    local newest = delivery.is_newest and append_post(delivery, tag, redis.call('GET', key))
    if newest then
      redis.call('SET', key, newest)
    else
      insert_post(delivery, tag)
    end
  end
end
return left
