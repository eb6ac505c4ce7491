-- Ends the leases of posts that have new scores. KEYS rescore; ARGV post, lease, ...
-- A post whose counts changed after it was leased is scheduled again, and stays.
for i = 1, #ARGV, 2 do
  local due = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if due and tonumber(due) == tonumber(ARGV[i + 1]) then
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return 1
