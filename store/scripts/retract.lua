-- Takes a deleted post, or an undone plain repost, out of the homes of some members, all of one partition.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; post, its author, repost or '', first reposts; members...
for i = 9, #ARGV do
  local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[i])
  local floor = open_home(at, true)
  if floor then
    if ARGV[7] == '' then
      redis.call('ZREM', at.home, ARGV[5])
      redis.call('HDEL', at.sources, ARGV[5])
    else
      take_source(at, floor, ARGV[5], ARGV[6], ARGV[7], ARGV[8])
    end
  end
end
return 1
