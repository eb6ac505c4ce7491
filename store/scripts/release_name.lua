-- Frees a reserved name if it is still this member's. KEYS name; ARGV member
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
