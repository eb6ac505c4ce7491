-- Shared by all scripts, after the prelude: notifications.
--
-- A member's notifications lie in their own partition, in two logs: notifications and withdrawals. The score of an
-- entry is an id that the writing step mints. So a reader who has both logs up to an id can continue from that id.
-- Each cause has one text, hence one entry: repeating a step adds nothing. The likes of a post share an entry for each
-- day, `LIKE:0:post:day`. Who likes it is read from the post's likes, which are in the same partition.
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

local DAY_OF_IDS = 86400000 * 4096 -- ids of a day, in UTC, as days begin at EPOCH

local function likes_text(post, day)
  return text_of('LIKE', '0', post, str(day))
end

local function day_of(id)
  return math.floor(tonumber(id) / DAY_OF_IDS)
end

-- Withdraws the entry of a post's likes of a day, unless somebody else liked it on that day than `but` and the member.
local function settle_likes(box, post, day, but)
  local likes = Stem.likes .. '{' .. box.partition .. '}:' .. post
  local left = redis.call('ZCOUNT', likes, str(day * DAY_OF_IDS), str((day + 1) * DAY_OF_IDS - 1))
  for _, actor in ipairs({box.member, but}) do
    local id = redis.call('ZSCORE', likes, actor)
    if id and day_of(id) == day then
      left = left - 1
    end
  end
  if left <= 0 then
    take_back(box, likes_text(post, day))
  end
end

-- Withdraws the notification of a like that was undone. Before layout 5, each like had one of its own.
local function withdraw_like(box, actor, post, id)
  if box and actor ~= box.member then
    take_back(box, text_of('LIKE', actor, post))
    settle_likes(box, post, day_of(id))
  end
end

-- Withdraws all notifications that an actor caused, after a block or mute between the two.
local function withdraw_by(box, actor)
  if not box then
    return
  end
  for _, text in ipairs(redis.call('ZRANGE', box.notifications, 0, -1)) do
    local post, day = string.match(text, '^LIKE:0:(%d+):(%d+)$')
    if post then
      settle_likes(box, post, tonumber(day), actor)
    elseif string.find(text, '^[%u_]+:' .. actor .. ':') then
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

-- Returns whether a member is notified of an actor's acts: not of their own acts, nor of acts by members whom they block
-- or mute or who block them.
local function is_notified_of(box, actor)
  return box and actor ~= box.member and redis.call('EXISTS', Stem.user .. box.tag) == 1 and not (
    redis.call('ZSCORE', Stem.blocked .. box.tag, actor)
    or redis.call('ZSCORE', Stem.blocked_by .. box.tag, actor)
    or redis.call('ZSCORE', Stem.muted .. box.tag, actor)
  )
end

-- Notifies a member once of what an actor did. A quote, reply or comment that also mentions the member replaces the
-- mention. `id` is the score of the entry if the calling step has minted one.
local ABOVE_MENTION = {QUOTE = true, REPLY = true, COMMENT = true}
local function notify(box, kind, actor, post, comment, id)
  if not is_notified_of(box, actor) then
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

-- Notifies a member of the first like of a post on a day, whose id is the score of the entry. Later ones only count.
local function notify_of_like(box, actor, post, id)
  local text = likes_text(post, day_of(id))
  if box and not redis.call('ZSCORE', box.notifications, text) and is_notified_of(box, actor) then
    log_to(box, box.notifications, text, id)
  end
end
