-- Sets a member's magnitude to that of their followers.
-- KEYS: user, minted, jobs.
-- ARGV: partition, member.
if redis.call('EXISTS', user) == 1 then
  update_magnitude(user, jobs, minted, partition, member)
end
