-- Shared by all scripts, after `placing`: one post in many homes.
--
-- Calls `act` with the key suffixes of members, for each partition that is on this node. `groups` has of each partition
-- its hash tag, the number of members and the members. Returns the hash tags of the other partitions.
-- While a slot moves, a key that is missing here may have moved. The server then refuses to look for `absent`, too.
local function each_partition(groups, act)
  local left, i = {}, 1
  while i <= #groups do
    local partition, last = groups[i], i + 1 + groups[i + 1]
    if type(redis.pcall('EXISTS', Stem.absent .. partition)) == 'number' then
      local tags = {}
      for j = i + 2, last do
        tags[#tags + 1] = partition .. ':' .. groups[j]
      end
      act(tags)
    else
      left[#left + 1] = partition
    end
    i = last + 1
  end
  return left
end

-- `delivery` is a table with the arguments of the same names: lift, home_size, home_slack, oldest, newest_size,
-- deliverer, post, author, repost, earlier_reposts.
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

-- Returns what `newest` of a home becomes when the post is added, nil when the home needs `insert_post`. `waiting` is
-- what `newest` is, false when there is none. Posts of one millisecond may arrive in any order. A post above the
-- beginning of `newest` is above every entry of the list, and waits at its place.
local function append_post(delivery, tag, waiting)
  local place, sub = delivery.place, string.sub
  waiting = waiting or begin_waiting(Stem.home .. tag, Stem.home_state .. tag, delivery.post, delivery.most)
  if not waiting or sub(waiting, 1, WIDTH) > place then
    return nil
  end
  local at = #waiting
  while sub(waiting, at - WIDTH + 1, at) > place do
    at = at - WIDTH
  end
  if sub(waiting, at - WIDTH + 1, at) == place then
    return waiting
  end
  waiting = sub(waiting, 1, at) .. place .. sub(waiting, at + 1)
  if #waiting <= delivery.widest then
    return waiting
  end
  if add_waiting(Stem.home .. tag, waiting) > delivery.most then
    trim(home_of(tag, delivery.lift), delivery.home_size, delivery.slack, delivery.oldest)
  end
  return sub(waiting, -WIDTH)
end

-- Adds the post to a home at its place, wherever that is. A home that does not exist is not begun.
local function insert_post(delivery, tag)
  local at, repost = home_of(tag, delivery.lift), delivery.repost
  local floor = open_home(at, repost ~= '')
  if not floor then
    return
  end
  if repost == '' then
    add_post(at, floor, delivery.post, delivery.author)
  else
    add_repost(at, floor, delivery.post, delivery.author, repost, delivery.deliverer, delivery.earlier_reposts)
  end
  trim(at, delivery.home_size, delivery.slack, delivery.oldest)
end

-- Adds the post to homes. `keys` names `newest` of each, from `first` on. `ends` has their values, or is false when the
-- post may not be the newest. On a cluster the homes are of one partition.
local function deliver_here(delivery, keys, ends, first)
  local added, others, count, sub = {}, {}, 0, string.sub
  local place, room = delivery.place, delivery.widest - WIDTH
  for i = first or 1, #keys do
    local waiting, newest = ends and ends[i], nil
    if waiting and #waiting <= room and sub(waiting, -WIDTH) < place then
      newest = waiting .. place -- as in `append_post`, without the cost of a call
    elseif ends then
      newest = append_post(delivery, sub(keys[i], #Stem.newest + 1), waiting)
    end
    if newest then
      added[count + 1], added[count + 2] = keys[i], newest
      count = count + 2
    else
      others[#others + 1] = keys[i]
    end
  end
  if count > 0 then
    redis.call('MSET', unpack(added))
  end
  for _, key in ipairs(others) do
    insert_post(delivery, string.sub(key, #Stem.newest + 1))
  end
end

-- Returns the keys of `newest` of members.
local function homes_of(members)
  local keys, floor = {}, math.floor
  for i, member in ipairs(members) do
    -- `tag_of`, without the cost of a call and of one more string.
    keys[i] = Stem.newest .. '{' .. floor(member / 16) % 256 .. '}:' .. member
  end
  return keys
end
