-- Brings one post to the homes of some followers, all of one partition. Repeating it changes nothing.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack, oldest id kept,
--      deliverer, post, its author, repost or '', earlier reposts; followers...
-- An edge that has ended brings nothing; a home that does not exist is not begun.
local prefixes = {ARGV[1], ARGV[2], ARGV[3], ARGV[4]}
local size, slack, oldest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local deliverer, post, author, repost, earlier = ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
for i = 13, #ARGV do
  local at = home_of(prefixes, ARGV[i])
  local floor = open_home(at, repost ~= '')
  if floor and redis.call('ZSCORE', at.following, deliverer) then
    if repost == '' then
      bring(at, floor, post)
    else
      bring_repost(at, floor, post, author, repost, deliverer, earlier)
    end
    trim(at, size, slack, oldest)
  end
end
return 1
