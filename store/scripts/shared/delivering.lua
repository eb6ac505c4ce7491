-- Shared by all scripts, after `placing`: one post in many homes.
--
-- Returns whether the partition of a member's tag is on this node. While its slot moves, it is not: a key that is missing
-- here may have moved. The server then refuses to look at the key that never exists.
local checked = {}
local function is_here(absent_stem, tag)
  local partition = string.match(tag, '[^:]+')
  if checked[partition] == nil then
    checked[partition] = type(redis.pcall('EXISTS', absent_stem .. partition)) == 'number'
  end
  return checked[partition]
end

-- `delivery` is a table: `stems` of the keys of homes, and the arguments of the same names: home_size, home_slack,
-- oldest, newest_size, deliverer, post, author, repost, earlier_reposts.
-- Almost always the post is newer than every entry of a home. It is then appended to `newest`, which takes reading
-- and writing no other key.
local function begin_delivery(delivery)
  local slack = delivery.home_slack
  delivery.is_newest = delivery.repost == '' and tonumber(delivery.oldest) == 0
  delivery.slack = slack - (delivery.is_newest and delivery.newest_size or 0) -- entries in `newest` count, too
  delivery.most, delivery.widest = delivery.home_size + delivery.slack, (1 + delivery.newest_size) * WIDTH
  delivery.place = wide(delivery.post)
  return delivery
end

-- Returns what `newest` of a home becomes when the post is appended, nil when the home needs `insert_post`. `waiting` is
-- what `newest` is, false when there is none.
local function append_post(delivery, tag, waiting)
  local place, stems = delivery.place, delivery.stems
  waiting = waiting or begin_waiting(stems.home .. tag, stems.state .. tag, delivery.post, delivery.most)
  if waiting == place then
    return place
  elseif waiting and string.sub(waiting, -WIDTH) < place then
    waiting = waiting .. place
    if #waiting <= delivery.widest then
      return waiting
    end
    if add_waiting(stems.home .. tag, waiting) > delivery.most then
      trim(home_of(stems, tag), delivery.home_size, delivery.slack, delivery.oldest)
    end
    return place
  end
end

-- Adds the post to a home at its place, wherever that is. A home that does not exist is not begun.
local function insert_post(delivery, tag)
  local at, repost = home_of(delivery.stems, tag), delivery.repost
  local floor = open_home(at, repost ~= '')
  if not floor then
    return
  end
  if repost == '' then
    add_post(at, floor, delivery.post)
  else
    add_repost(at, floor, delivery.post, delivery.author, repost, delivery.deliverer, delivery.earlier_reposts)
  end
  trim(at, delivery.home_size, delivery.slack, delivery.oldest)
end
