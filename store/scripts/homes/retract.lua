-- Removes a deleted post, or an undone plain repost, from the homes of some members, whose partitions are on one node.
-- KEYS: absent (of the partition of one of them).
-- ARGV: absent_stem, following_stem, home_stem, home_state_stem, sources_stem, candidates_stem, newest_stem, lift,
--       home_size, home_slack, oldest, post, author, repost (or ''), earlier_reposts, groups...
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0. `author` wrote the post.
-- `groups` has of each partition its hash tag, the number of members and the members.
-- Undoing a repost can list its original again, so the home is trimmed afterwards.
-- Returns the hash tags of the partitions that are not, or no longer, on this node.
local stems = {
  following = following_stem, home = home_stem, state = home_state_stem, sources = sources_stem,
  candidates = candidates_stem, newest = newest_stem, lift = lift,
}
return each_partition(absent_stem, groups, function(tags)
  for _, tag in ipairs(tags) do
    local at = home_of(stems, tag)
    local floor = open_home(at, true)
    if floor and repost == '' then
      remove_post(at, post)
    elseif floor then
      take_source(at, floor, post, author, repost, earlier_reposts)
      trim(at, home_size, home_slack, oldest)
    end
  end
end)
