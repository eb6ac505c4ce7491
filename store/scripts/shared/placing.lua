-- Shared by all scripts, after `home`: how follows and reposts add posts to a home, and the place of each post.

-- Returns a true value when the home lists this author's posts without a repost: for a followed author or the member.
local function has_author(at, author)
  return author == at.member or redis.call('ZSCORE', at.following, author)
end

-- Returns whether a followed member reposted a post at or below the floor. `earlier` lists its first reposts.
local function was_reposted_below(at, floor, earlier)
  for id, who in each_source(floor > 0 and earlier or '') do
    if tonumber(id) > floor then
      return false
    elseif redis.call('ZSCORE', at.following, who) then
      return true
    end
  end
  return false
end

-- Inserts `repost:reposter` into the list of a post's sources, oldest first. Repeating it changes nothing.
local function add_source(at, post, repost, reposter)
  local entries, placed = {}, false
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id == repost then
      return
    end
    if not placed and tonumber(id) > tonumber(repost) then
      entries[#entries + 1] = repost .. ':' .. reposter
      placed = true
    end
    entries[#entries + 1] = id .. ':' .. who
  end
  if not placed then
    entries[#entries + 1] = repost .. ':' .. reposter
  end
  set_sources(at, post, entries)
end

-- Lists a status or quote by a followed author or the member at its own id, even if a repost gave it another place.
-- At or below the floor it is not listed.
local function add_post(at, floor, post)
  local own = tonumber(post)
  move(at, post, place_of(at, post), own > floor and own or nil)
end

-- Adds a plain repost by a followed member to the sources of its original. The original's place depends on its author:
-- - A followed author's post has its own id as place. The step that adds the author's posts puts it there, or a reader
--   pulls it.
-- - Any other post has its first source as place. If that is at or below the floor, the home has already shown the
--   post, and does not list it.
local function add_repost(at, floor, post, author, repost, reposter, earlier)
  local has_own_place, current, place = has_author(at, author), place_of(at, post), tonumber(repost)
  if place <= floor then
    if current and not has_own_place then
      move(at, post, current, nil)
    end
    return
  end
  local _, first = sources_above(at, floor, post)
  add_source(at, post, repost, reposter)
  if not has_own_place and (current or not first and not was_reposted_below(at, floor, earlier)) then
    -- A post that has sources but is not listed has its place below the floor, and stays there.
    move(at, post, current, math.min(current or place, place))
  end
end

-- Moves a post to its new place after one of its sources is gone: a repost, or the follow of its author. `current`
-- is its present place, nil when it is not listed.
local function recompute_place(at, floor, post, current, author, earlier)
  local _, first = sources_above(at, floor, post)
  if has_author(at, author) then
    if current and current ~= tonumber(post) then
      -- A repost listed it before the member followed its author, whose posts are pulled.
      move(at, post, current, tonumber(first))
    end
  elseif not first then
    move(at, post, current, nil)
    redis.call('HDEL', at.sources, post)
  elseif current or not was_reposted_below(at, floor, earlier) then
    move(at, post, current, tonumber(first))
  end
end

-- Removes one repost from the sources of a post.
local function take_source(at, floor, post, author, repost, earlier)
  local entries, current = {}, place_of(at, post)
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id ~= repost then
      entries[#entries + 1] = id .. ':' .. who
    end
  end
  set_sources(at, post, entries)
  recompute_place(at, floor, post, current, author, earlier)
end
