-- Applies a follow or a request on the followed side, unless a newer version is known.
-- KEYS: user, followers, requests, tombstone, blocked, minted, jobs.
-- ARGV: step ('add', 'ask' or 'remove'), follower, edge, ttl (s), partition, member, big_author_threshold, mailboxes.
-- `ttl` is that of the tombstone. `member` is the followed one. `mailboxes` is '' to notify nobody.
-- Returns 1, or 0 when a newer version is known or there is nothing to remove.
-- Returns 2 when a request is a follow, since it was approved or the followed member is no longer private.
-- Returns false when the followed member is gone or blocks the follower. A block leaves a tombstone, by which the follower
-- learns that the edge has ended.
if redis.call('EXISTS', user) == 0 then
  return false
end
local version = tonumber(edge)
local function known(set)
  return tonumber(redis.call('ZSCORE', set, follower) or '0')
end
local ended, box = tonumber(redis.call('GET', tombstone) or '0'), mailbox(mailboxes, member)
local function count()
  weigh(user, jobs, minted, partition, member, redis.call('ZCARD', followers), big_author_threshold)
end

if step == 'remove' then
  redis.call('SET', tombstone, str(math.max(version, ended)), 'EX', ttl)
  local changed_here = 0
  if known(requests) ~= 0 and known(requests) <= version then
    redis.call('ZREM', requests, follower)
    withdraw(box, 'FOLLOW_REQUEST', follower)
    changed_here = 1
  end
  if known(followers) ~= 0 and known(followers) <= version then
    redis.call('ZREM', followers, follower)
    withdraw(box, 'FOLLOW', follower)
    count()
    changed_here = 1
  end
  return changed_here
end

if redis.call('ZSCORE', blocked, follower) then
  redis.call('SET', tombstone, str(math.max(version, ended)), 'EX', ttl)
  return false
end
if step == 'ask' and known(followers) == version then
  return 2 -- approved meanwhile, or repeated
end
if version <= math.max(known(followers), known(requests), ended) then
  return 0
end
if step == 'ask' and redis.call('HEXISTS', user, UserField.PRIVATE) == 1 then
  redis.call('ZADD', requests, edge, follower)
  notify(box, 'FOLLOW_REQUEST', follower)
  return 1
end
redis.call('ZREM', requests, follower)
withdraw(box, 'FOLLOW_REQUEST', follower)
redis.call('ZADD', followers, edge, follower)
notify(box, 'FOLLOW', follower)
count()
return step == 'ask' and 2 or 1
