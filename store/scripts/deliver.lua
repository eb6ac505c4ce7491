-- Brings one post to the homes of some followers, all of one partition. Repeating it changes nothing.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack,
--      deliverer, post, its author, repost or '', earlier reposts; followers...
-- An edge that has ended brings nothing; a home that does not exist is not begun.
local prefixes = {ARGV[1], ARGV[2], ARGV[3], ARGV[4]}
local size, slack = tonumber(ARGV[5]), tonumber(ARGV[6])
local deliverer, post, author, repost = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local earlier = ARGV[11] ~= '' and ARGV[11] or nil
for i = 12, #ARGV do
  local at = home_of(prefixes, ARGV[i])
  local floor = redis.call('HGET', at.state, 'floor')
  if floor and redis.call('ZSCORE', at.following, deliverer) then
    if repost == '' then
      bring(at, tonumber(floor), post)
    else
      bring_repost(at, tonumber(floor), post, author, repost, deliverer, earlier)
    end
    trim(at, size, slack)
  end
end
return 1
