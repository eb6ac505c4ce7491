-- Sets a member's magnitude to that of their followers.
-- KEYS: user, minted, jobs.
-- ARGV: partition, member.
local followers, stored = unpack(redis.call('HMGET', user, UserField.FOLLOWERS, UserField.MAGNITUDE))
if followers then
  update_magnitude(user, jobs, minted, partition, member, tonumber(followers), stored)
end
