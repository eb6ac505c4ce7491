-- Writes a home that was computed from the profiles of those its owner follows.
-- KEYS home, home state, sources, scratch
-- ARGV digest of the home it was computed against or '', floor, entries as 'post' or 'post:place' separated by spaces,
--      then post, its sources, ...
-- With a digest the home is replaced if it is still the one looked at; else nothing happens and 0 is returned.
-- Without, the entries are added to what is there, which deliveries may be changing at the same time.
local floor = tonumber(redis.call('HGET', KEYS[2], 'floor') or '0')
if ARGV[1] ~= '' then
  local now = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  if redis.sha1hex(table.concat(now, ' ')) ~= ARGV[1] then
    return 0
  end
  redis.call('DEL', KEYS[1], KEYS[3])
  redis.call('HSET', KEYS[2], 'floor', ARGV[2])
elseif tonumber(ARGV[2]) > floor then
  redis.call('HSET', KEYS[2], 'floor', ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
elseif redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('HSET', KEYS[2], 'floor', ARGV[2])
end
-- A sorted set as small as a home is kept as a list, which is searched from its beginning for every entry added:
-- 800 of them take eight times as long as in a skip list that becomes a list at the end. A member too long for the
-- list makes it a skip list.
local long = string.rep('-', 65)
redis.call('ZADD', KEYS[4], 0, long)
local pairs_ = {}
for post, place in string.gmatch(ARGV[3], '(%d+):?(%d*)') do
  pairs_[#pairs_ + 1] = place == '' and post or place
  pairs_[#pairs_ + 1] = post
  if #pairs_ == 2000 then
    redis.call('ZADD', KEYS[4], unpack(pairs_))
    pairs_ = {}
  end
end
if #pairs_ > 0 then
  redis.call('ZADD', KEYS[4], unpack(pairs_))
end
redis.call('ZREM', KEYS[4], long)
redis.call('ZUNIONSTORE', KEYS[1], 2, KEYS[1], KEYS[4], 'AGGREGATE', 'MIN')
redis.call('DEL', KEYS[4])
for i = 4, #ARGV, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
return 1
