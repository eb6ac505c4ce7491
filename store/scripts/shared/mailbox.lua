-- Shared by all scripts, after the prelude: notifications.
--
-- A member's notifications lie in their own partition, in two logs: notifications and withdrawals. The score of an
-- entry is an id that the writing step mints. So a reader who has both logs up to an id can continue from that id.
-- Each cause has one text, hence one entry: repeating a step adds nothing.
--
-- `mailbox` adds the member to the text that `store/scripts/mailboxes.py` gives a script. The text is '' to notify
-- nobody. Keys that only some calls need are made where they are used, from `box.tag`.
local function mailbox(text, member)
  if text == '' then
    return nil
  end
  local partition, kept, channel = string.match(text, '(%S+) (%S+) (%S+)')
  local tag = '{' .. partition .. '}:' .. member
  return {
    member = member,
    partition = partition,
    kept = tonumber(kept),
    tag = tag,
    channel = channel .. tag,
    minted = Stem.minted .. '{' .. partition .. '}',
    notifications = Stem.notifications .. tag,
  }
end

local function text_of(kind, actor, post, comment)
  return kind .. ':' .. actor .. ':' .. (post or '0') .. ':' .. (comment or '0')
end

-- Trims one of the two logs to its newest entries, and raises the floor. A reader whose cursor is below the floor may
-- have missed entries.
local function bound_log(box, log)
  local surplus = redis.call('ZCARD', log) - box.kept
  if surplus > 0 then
    local last = redis.call('ZRANGE', log, surplus - 1, surplus - 1, 'WITHSCORES')[2]
    local state = Stem.notification_state .. box.tag
    local floor = tonumber(redis.call('HGET', state, NotificationsField.FLOOR) or '0')
    redis.call('HSET', state, NotificationsField.FLOOR, str(math.max(floor, tonumber(last))))
    redis.call('ZREMRANGEBYRANK', log, 0, surplus - 1)
  end
end

-- Adds an entry to one of the two logs, unless it is there. Its score is an id that the calling step has minted in the
-- partition, or else a new one.
local function log_to(box, log, entry, id)
  if redis.call('ZADD', log, 'NX', id or str(mint(box.minted, box.partition)), entry) == 1 then
    bound_log(box, log)
    redis.call('SPUBLISH', box.channel, '')
  end
end

local function take_back(box, text)
  local id = redis.call('ZSCORE', box.notifications, text)
  if id then
    redis.call('ZREM', box.notifications, text)
    log_to(box, Stem.withdrawn_notifications .. box.tag, id)
  end
end

-- Withdraws a notification, if there is one. The cause is named as in `notify`.
local function withdraw(box, kind, actor, post, comment)
  if box then
    take_back(box, text_of(kind, actor, post, comment))
  end
end

-- Withdraws all notifications that an actor caused, after a block or mute between the two.
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

-- Withdraws all notifications about a post.
local function withdraw_about(box, post)
  for _, text in ipairs(redis.call('ZRANGE', box.notifications, 0, -1)) do
    if string.find(text, '^[%u_]+:%d+:' .. post .. ':') then
      take_back(box, text)
    end
  end
end

-- Notifies a member once of what an actor did. Members are not notified of their own acts, nor of acts by members whom
-- they block or mute or who block them. A quote, reply or comment that also mentions the member replaces the mention.
-- `id` is the score of the entry if the calling step has minted one.
local ABOVE_MENTION = {QUOTE = true, REPLY = true, COMMENT = true}
local function notify(box, kind, actor, post, comment, id)
  if not box or actor == box.member or redis.call('EXISTS', Stem.user .. box.tag) == 0 then
    return
  end
  if
    redis.call('ZSCORE', Stem.blocked .. box.tag, actor)
    or redis.call('ZSCORE', Stem.blocked_by .. box.tag, actor)
    or redis.call('ZSCORE', Stem.muted .. box.tag, actor)
  then
    return
  end
  for other in pairs(kind == 'MENTION' and ABOVE_MENTION or {}) do
    if redis.call('ZSCORE', box.notifications, text_of(other, actor, post, comment)) then
      return
    end
  end
  if ABOVE_MENTION[kind] then
    withdraw(box, 'MENTION', actor, post, comment)
  end
  log_to(box, box.notifications, text_of(kind, actor, post, comment), id)
end
