-- Removes a deleted post, or an undone plain repost, from the homes of some members, whose partitions are on one node.
-- KEYS: absent (of the partition of one of them).
-- ARGV: absent_stem, following_stem, home_stem, home_state_stem, sources_stem, newest_stem, home_size, home_slack,
--       oldest, post, author, repost (or ''), earlier_reposts, tags...
-- `oldest` is the highest id that is too old for a home, or 0. `author` wrote the post.
-- `tags` are the key suffixes of the members.
-- Undoing a repost can list its original again, so the home is trimmed afterwards.
-- Returns the tags of members whose partition is not, or no longer, on this node.
local stems, left = {
  following = following_stem, home = home_stem, state = home_state_stem, sources = sources_stem, newest = newest_stem,
}, {}
for _, tag in ipairs(tags) do
  local at, is_on_node = home_of(stems, tag), is_here(absent_stem, tag)
  local floor = is_on_node and open_home(at, true)
  if not is_on_node then
    left[#left + 1] = tag
  elseif floor and repost == '' then
    move(at, post, place_of(at, post), nil)
    redis.call('HDEL', at.sources, post)
  elseif floor then
    take_source(at, floor, post, author, repost, earlier_reposts)
    trim(at, home_size, home_slack, oldest)
  end
end
return left
