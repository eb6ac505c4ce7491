-- Applies a follow or a request on the followed side, unless a newer version is known.
-- KEYS user, followers, requests, tombstone, blocked, minted, jobs
-- ARGV 'add', 'ask' or 'remove', follower, edge, tombstone's life (s), partition, owner,
--      followers that make a big author, mailboxes, '' to notify nobody
-- Returns 1; 0 when a newer version is known or there is nothing to remove; 2 when a request is a follow, since it was
-- approved or the owner is no longer private; false when the owner is gone or blocks the follower.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local step, who, edge = ARGV[1], ARGV[2], tonumber(ARGV[3])
local function known(set)
  return tonumber(redis.call('ZSCORE', set, who) or '0')
end
local ended, box = tonumber(redis.call('GET', KEYS[4]) or '0'), mailbox(ARGV[8], ARGV[6])
local function count()
  weigh(KEYS[1], KEYS[7], KEYS[6], ARGV[5], ARGV[6], redis.call('ZCARD', KEYS[2]), ARGV[7])
end

if step == 'remove' then
  redis.call('SET', KEYS[4], str(math.max(edge, ended)), 'EX', ARGV[4])
  local changed_here = 0
  if known(KEYS[3]) ~= 0 and known(KEYS[3]) <= edge then
    redis.call('ZREM', KEYS[3], who)
    withdraw(box, 'FOLLOW_REQUEST', who)
    changed_here = 1
  end
  if known(KEYS[2]) ~= 0 and known(KEYS[2]) <= edge then
    redis.call('ZREM', KEYS[2], who)
    withdraw(box, 'FOLLOW', who)
    count()
    changed_here = 1
  end
  return changed_here
end

if redis.call('ZSCORE', KEYS[5], who) then
  return false
end
if step == 'ask' and known(KEYS[2]) == edge then
  return 2 -- approved meanwhile, or repeated
end
if edge <= math.max(known(KEYS[2]), known(KEYS[3]), ended) then
  return 0
end
if step == 'ask' and redis.call('HEXISTS', KEYS[1], 'private') == 1 then
  redis.call('ZADD', KEYS[3], ARGV[3], who)
  notify(box, 'FOLLOW_REQUEST', who)
  return 1
end
redis.call('ZREM', KEYS[3], who)
withdraw(box, 'FOLLOW_REQUEST', who)
redis.call('ZADD', KEYS[2], ARGV[3], who)
notify(box, 'FOLLOW', who)
count()
return step == 'ask' and 2 or 1
