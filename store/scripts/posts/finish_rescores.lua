-- Lets go of posts that have their new scores. KEYS rescore; ARGV post, lease, ...
-- One whose numbers have changed since it was leased has been noted again, and stays.
for i = 1, #ARGV, 2 do
  local due = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if due and tonumber(due) == tonumber(ARGV[i + 1]) then
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return 1
