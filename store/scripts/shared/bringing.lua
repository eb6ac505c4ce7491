-- Shared by all scripts, after `home`: what follows and reposts bring to a home, and where it stands then.

-- Whether the member has posts of this author by themselves, without anybody's repost.
local function has_author(at, author)
  return author == at.member or redis.call('ZSCORE', at.following, author)
end

-- Whether somebody followed had passed a post on at or below the floor. `earlier` are its first reposts.
local function was_passed_below(at, floor, earlier)
  for id, who in each_source(floor > 0 and earlier or '') do
    if tonumber(id) > floor then
      return false
    elseif redis.call('ZSCORE', at.following, who) then
      return true
    end
  end
  return false
end

-- Inserts `repost:author` into the list of a post's sources, oldest first. Repeating it changes nothing.
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

-- A status or quote whose author the member has: it stands at its own id, wherever a repost had put it.
local function bring(at, floor, post)
  local own = tonumber(post)
  move(at, post, place_of(at, post), own > floor and own or nil)
end

-- A plain repost by somebody the member has. Where its author is followed too, the post stands at its own id, to which
-- what brings the author's posts puts it, or a reader who pulls them; else at the first repost that brings it; where
-- that is at or below the floor, the home has already shown it.
local function bring_repost(at, floor, post, author, repost, reposter, earlier)
  local has, stands, place = has_author(at, author), place_of(at, post), tonumber(repost)
  if place <= floor then
    if stands and not has then
      move(at, post, stands, nil)
    end
    return
  end
  local _, first = sources_above(at, floor, post)
  add_source(at, post, repost, reposter)
  if not has and (stands or not first and not was_passed_below(at, floor, earlier)) then
    -- Not in the home and yet with sources: it stands below the floor.
    move(at, post, stands, math.min(stands or place, place))
  end
end

-- Puts a post, which stands at `stands`, where it belongs after something that brought it is gone: its author's follow,
-- or a repost.
local function settle(at, floor, post, stands, author, earlier)
  local _, first = sources_above(at, floor, post)
  if has_author(at, author) then
    if stands and stands ~= tonumber(post) then
      -- A repost had brought it before its author, whose posts are pulled, was followed.
      move(at, post, stands, tonumber(first))
    end
  elseif not first then
    move(at, post, stands, nil)
    redis.call('HDEL', at.sources, post)
  elseif stands or not was_passed_below(at, floor, earlier) then
    move(at, post, stands, tonumber(first))
  end
end

-- Takes one repost away as a source of a post.
local function take_source(at, floor, post, author, repost, earlier)
  local entries, stands = {}, place_of(at, post)
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id ~= repost then
      entries[#entries + 1] = id .. ':' .. who
    end
  end
  set_sources(at, post, entries)
  settle(at, floor, post, stands, author, earlier)
end
