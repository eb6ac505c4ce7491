-- Fans out one post to the homes of some followers, oldest follow first. Repeating it changes nothing.
-- It is for one server, on which a script may use the keys of all partitions.
-- KEYS: followers (of the deliverer), jobs?, progress?.
-- ARGV: lift, home_size, home_slack, oldest, newest_size, deliverer, post, author, repost (or ''), earlier_reposts,
--       after, limit, job?.
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0. `newest_size` is the most entries in `newest`.
-- `author` wrote the post. The script begins after the edge `after`, and takes `limit` followers.
-- If there may be more, it saves the progress of the `job` that it is a step of.
-- Returns the number of followers, and the last one's edge if there is any. Then returns what `save_progress` does.
local found = redis.call('ZRANGE', followers, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, limit)
if #found == 0 then
  return {0}
end
local delivery = begin_delivery({
  lift = lift, home_size = home_size, home_slack = home_slack, oldest = oldest, newest_size = newest_size,
  deliverer = deliverer, post = post, author = author, repost = repost, earlier_reposts = earlier_reposts,
})
local keys = homes_of(found)
deliver_here(delivery, keys, delivery.is_newest and redis.call('MGET', unpack(keys)))
local last = redis.call('ZSCORE', followers, found[#found])
return {#keys, last, job and #keys == tonumber(limit) and save_progress(jobs, progress, job, last) or nil}
