-- Lists a post in its group's timeline, unless it has been removed from there.
-- KEYS: minted, group, group_members, group_timeline, group_changes, tombstone.
-- ARGV: partition, post, author, changes_kept, channel.
-- Returns 1, or 0 when the post has no place there: the group is gone, or its author has left it before it was listed.
if redis.call('EXISTS', group) == 0 then
  return 0
end
if redis.call('ZSCORE', group_timeline, post) or redis.call('EXISTS', tombstone) == 1 then
  return 1
end
if not redis.call('ZSCORE', group_members, author) then
  return 0
end
redis.call('ZADD', group_timeline, post, post)
log_group_change(group_changes, minted, partition, post, tonumber(changes_kept), channel)
return 1
