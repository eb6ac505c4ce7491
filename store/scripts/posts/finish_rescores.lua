-- Ends the leases of posts that have new scores.
-- KEYS: rescore.
-- ARGV: leases... (post, lease, post, lease, ...).
-- A post whose counts changed after it was leased is scheduled again, and stays.
for i = 1, #leases, 2 do
  local due = redis.call('ZSCORE', rescore, leases[i])
  if due and tonumber(due) == tonumber(leases[i + 1]) then
    redis.call('ZREM', rescore, leases[i])
  end
end
return 1
