-- Removes a deleted post, or an undone plain repost, from the homes of some members, whose partitions are on one node.
-- KEYS: absent (of the partition of one of them).
-- ARGV: lift, home_size, home_slack, oldest, post, author, repost (or ''), earlier_reposts, groups...
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0. `author` wrote the post.
-- `groups` has of each partition its hash tag, the number of members and the members.
-- Undoing a repost can list its original again, so the home is trimmed afterwards.
-- Returns the hash tags of the partitions that are not, or no longer, on this node.
return each_partition(groups, function(tags)
  for _, tag in ipairs(tags) do
    local at = home_of(tag, lift)
    local floor = open_home(at, true)
    if floor and repost == '' then
      remove_post(at, post)
    elseif floor then
      take_source(at, floor, post, author, repost, earlier_reposts)
      trim(at, home_size, home_slack, oldest)
    end
  end
end)
