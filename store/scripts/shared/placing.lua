-- Shared by all scripts, after `home`: the place of a post in a home, from its sources.
--
-- Returns a true value when the post of this author is itself a source: for a followed author or the member.
local function has_author(at, author)
  return author == at.member or redis.call('ZSCORE', at.following, author)
end

-- Returns the place after one more source, which is later than all before. Before the first, the place is nil.
local function place_after(at, place, source)
  if not place or at.lift > 0 and source > place + at.lift then
    return source
  end
  return place
end

-- Returns the place that the sources at or below the floor give a post. `own` is its id if that is a source.
-- `earlier` lists the first reposts of the post.
local function place_below(at, floor, own, earlier)
  local place = own
  for id, who in each_source(earlier) do
    local source = tonumber(id)
    if source > floor then
      break
    elseif place_after(at, place, source) == source and redis.call('ZSCORE', at.following, who) then
      place = source
    end
  end
  return place
end

-- Stores the reposts that may be the place of a post for some reader, although the home lists it elsewhere.
-- Such a reader follows big authors, whose reposts of the post come between those that are stored. No source that is
-- more than the lift before the last one can be the place, nor one that is within the lift after the post.
local function list_candidates(at, post, own, place, ids, stored)
  local before, now = {}, {}
  for id in each_source(stored) do
    before[#before + 1] = post .. ':' .. id
  end
  for _, id in ipairs(ids) do
    if id ~= place and id >= ids[#ids] - at.lift and id > (own and own + at.lift or 0) and at.lift > 0 then
      now[#now + 1] = str(id)
      now[#now + 1] = post .. ':' .. str(id)
    end
  end
  if #before > 0 then
    redis.call('ZREM', at.candidates, unpack(before))
  end
  if #now > 0 then
    redis.call('ZADD', at.candidates, unpack(now))
  end
end

-- Moves a post from its place `current` to the one that its sources give it, and stores these. `sources` is a table:
-- - `own`: the post's id if that is a source.
-- - `below`: the place that the sources at or below the floor give it, if there are any.
-- - `ids` and `texts`: those above the floor, as `sources_above` returns them.
-- - `stored`: their text before.
-- - `is_delivered`: whether the post itself was delivered to this home.
-- Nothing else may list a post at its own id: a reader pulls it, or its delivery is under way.
local function put(at, floor, post, current, sources)
  local own, place = tonumber(post), sources.below or sources.own
  for _, id in ipairs(sources.ids) do
    place = place_after(at, place, id)
  end
  if place == own and own > floor and not sources.is_delivered then
    place = current and sources.ids[1]
    for _, id in ipairs(place and sources.ids or {}) do
      place = place_after(at, place, id)
    end
  end
  place = place and place > floor and place or nil
  local texts = table.concat(sources.texts, ' ')
  if sources.is_delivered and place ~= own and texts ~= '' then
    texts = post .. ':0 ' .. texts
  end
  if texts ~= (sources.stored or '') then
    set_sources(at, post, texts)
  end
  if sources.stored or #sources.ids > 1 or place ~= sources.ids[1] then
    list_candidates(at, post, sources.own, place, sources.ids, sources.stored)
  end
  move(at, post, current, place)
end

-- Moves a post to the place that its sources give it, after they or the follow of its author may have changed.
-- `change` is what `sources_above` takes. `earlier` lists the first reposts of the post, which count up to the floor.
local function settle(at, floor, post, author, earlier, change)
  local own, stored = tonumber(post), redis.call('HGET', at.sources, post)
  local ids, texts, is_marked = sources_above(floor, post, stored, change)
  local current, is_source = place_of(at, post, stored), has_author(at, author)
  local start = is_source and own or nil
  put(at, floor, post, current, {
    own = start,
    below = own <= floor and place_below(at, floor, start, earlier) or nil,
    ids = ids,
    texts = texts,
    stored = stored,
    is_delivered = is_source and own > floor and (is_marked or current == own or change == DELIVERED),
  })
end

-- Adds a status or quote by a followed author or the member. At or below the floor, it is a source without this step.
local function add_post(at, floor, post, author)
  if tonumber(post) > floor then
    settle(at, floor, post, author, '', DELIVERED)
  end
end

-- Adds a plain repost by a followed member to the sources of its original.
local function add_repost(at, floor, post, author, repost, reposter, earlier)
  if tonumber(repost) <= floor then
    settle(at, floor, post, author, earlier .. ' ' .. repost .. ':' .. reposter)
  else
    settle(at, floor, post, author, earlier, {added = repost, reposter = reposter})
  end
end

-- Removes a plain repost from the sources of its original.
local function take_source(at, floor, post, author, repost, earlier)
  settle(at, floor, post, author, earlier, {removed = repost})
end

-- Removes a post, and all that is known of it.
local function remove_post(at, post)
  local stored = redis.call('HGET', at.sources, post)
  move(at, post, place_of(at, post, stored), nil)
  if stored then
    redis.call('HDEL', at.sources, post)
    list_candidates(at, post, nil, nil, {}, stored)
  end
end
