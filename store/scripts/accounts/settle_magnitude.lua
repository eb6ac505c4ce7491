-- Sets a member's magnitude to that of their followers. KEYS user, minted, jobs; ARGV partition, member
if redis.call('EXISTS', KEYS[1]) == 1 then
  settle_magnitude(KEYS[1], KEYS[3], KEYS[2], ARGV[1], ARGV[2])
end
