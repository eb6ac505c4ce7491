-- Shared by all scripts, after the prelude: what members are told.
--
-- What a member is told lies in their own partition: notifications, and which of them were withdrawn, are two logs. The
-- score of an entry is an id made in the step that writes it, so whoever has read both up to an id reads on from there.
-- Each cause has one text, hence one entry: a step that is repeated adds nothing.
--
-- `mailbox` completes what `store/mailboxes.py` gives a script ('' where nobody is to be told) with the member.
local function mailbox(text, member)
  if text == '' then
    return nil
  end
  local box = {member = member}
  box.partition, box.minted, box.kept, box.channel, box.user, box.notifications, box.withdrawn, box.state, box.blocked,
    box.blocked_by, box.muted = string.match(text, string.rep('(%S+) ?', 11))
  for _, name in ipairs({'channel', 'user', 'notifications', 'withdrawn', 'state', 'blocked', 'blocked_by', 'muted'}) do
    box[name] = box[name] .. member
  end
  return box
end

local function text_of(kind, actor, post, comment)
  return kind .. ':' .. actor .. ':' .. (post or '0') .. ':' .. (comment or '0')
end

-- Keeps the newest of one of the two logs. Whoever has read up to an id below the floor may have missed something.
local function bound_log(box, log)
  local surplus = redis.call('ZCARD', log) - box.kept
  if surplus > 0 then
    local last = redis.call('ZRANGE', log, surplus - 1, surplus - 1, 'WITHSCORES')[2]
    local floor = tonumber(redis.call('HGET', box.state, 'floor') or '0')
    redis.call('HSET', box.state, 'floor', str(math.max(floor, tonumber(last))))
    redis.call('ZREMRANGEBYRANK', log, 0, surplus - 1)
  end
end

-- Adds an entry to one of the two logs, unless it is there.
local function log_to(box, log, entry)
  if redis.call('ZADD', log, 'NX', str(mint(box.minted, box.partition)), entry) == 1 then
    bound_log(box, log)
    redis.call('PUBLISH', box.channel, '')
  end
end

local function take_back(box, text)
  local id = redis.call('ZSCORE', box.notifications, text)
  if id then
    redis.call('ZREM', box.notifications, text)
    log_to(box, box.withdrawn, id)
  end
end

-- Takes a notification back, if there is one. The cause is named as in `notify`.
local function withdraw(box, kind, actor, post, comment)
  if box then
    take_back(box, text_of(kind, actor, post, comment))
  end
end

-- Takes back all that a member was told of an actor: for when they block or mute them.
local function withdraw_by(box, actor)
  if not box then
    return
  end
  for _, text in ipairs(redis.call('ZRANGE', box.notifications, 0, -1)) do
    if string.find(text, '^[%u_]+:' .. actor .. ':') then
      take_back(box, text)
    end
  end
end

-- Takes back all that a member was told of a post.
local function withdraw_about(box, post)
  for _, text in ipairs(redis.call('ZRANGE', box.notifications, 0, -1)) do
    if string.find(text, '^[%u_]+:%d+:' .. post .. ':') then
      take_back(box, text)
    end
  end
end

-- Tells a member once that an actor has done something: nobody of themselves, of whom they have blocked or muted or who
-- blocks them; and of one post or comment not both that it names them and what else it does to them.
local ABOVE_MENTION = {QUOTE = true, REPLY = true, COMMENT = true}
local function notify(box, kind, actor, post, comment)
  if not box or actor == box.member or redis.call('EXISTS', box.user) == 0 then
    return
  end
  for _, set in ipairs({box.blocked, box.blocked_by, box.muted}) do
    if redis.call('ZSCORE', set, actor) then
      return
    end
  end
  for other in pairs(kind == 'MENTION' and ABOVE_MENTION or {}) do
    if redis.call('ZSCORE', box.notifications, text_of(other, actor, post, comment)) then
      return
    end
  end
  if ABOVE_MENTION[kind] then
    withdraw(box, 'MENTION', actor, post, comment)
  end
  log_to(box, box.notifications, text_of(kind, actor, post, comment))
end
