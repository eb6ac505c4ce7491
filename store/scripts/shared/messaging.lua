-- Shared by all scripts, after the prelude: conversations.
--
-- A conversation lies in the partition of its set of members, with its messages. `conversation_keys` completes the text
-- that `store/conversations/prefixes.py` gives a script.
local function conversation_keys(text)
  local keys = {}
  keys.partition, keys.minted, keys.jobs, keys.conversation, keys.messages, keys.message, keys.sent, keys.deleted =
    string.match(text, string.rep('(%S+) ?', 8))
  return keys
end

-- Returns the participants of a conversation, sorted by member. Each has the id above which they see messages, '0' once
-- they have left.
local function read_participants(text)
  local participants = {}
  for member, since in string.gmatch(text, '(%d+):(%d+)') do
    participants[#participants + 1] = {member = member, since = since}
  end
  return participants
end

local function write_participants(participants)
  local parts = {}
  for i, one in ipairs(participants) do
    parts[i] = one.member .. ':' .. one.since
  end
  return table.concat(parts, ' ')
end

-- Returns the members of a text, in which spaces separate them, as the keys of a table.
local function members_of(text)
  local members = {}
  for member in string.gmatch(text, '%d+') do
    members[member] = true
  end
  return members
end

-- Commits the job that applies a change of a conversation for its participants. `packed` are the pictures of a message
-- that is deleted by it.
-- Returns the job's body.
local function commit_change(keys, change, conversation, message, packed)
  redis.call('HSET', keys.conversation .. conversation, ConversationField.VERSION, change)
  return commit(keys.jobs, tonumber(change), 'conversation', {
    conversation = conversation, message = message, images = packed,
  })
end

-- Appends a message to a conversation, with its job. Returns {message, body of the job}.
local function append_message(keys, conversation, sender, text, idempotency, digest, ttl, packed)
  local id = str(mint(keys.minted, keys.partition))
  redis.call('HSET', keys.message .. id, MessageField.CONVERSATION, conversation, MessageField.SENDER, sender,
    MessageField.TEXT, text)
  if packed then
    redis.call('HSET', keys.message .. id, MessageField.IMAGES, packed)
  end
  redis.call('ZADD', keys.messages .. conversation, id, id)
  redis.call('ZADD', keys.sent .. conversation .. ':' .. sender, id, id)
  remember_result(idempotency, digest, id, ttl)
  return {id, commit_change(keys, id, conversation)}
end

-- Adds changes to a member's message log, if there is one: somebody is subscribed, or was a while ago.
-- The log has its floor as an entry, the lowest. A subscriber whose cursor is below the floor may have missed changes.
local function log_changes(log, minted, partition, kept, channel, changes)
  if #changes == 0 or redis.call('EXISTS', log) == 0 then
    return
  end
  for _, change in ipairs(changes) do
    redis.call('ZADD', log, str(mint(minted, partition)), change)
  end
  local surplus = redis.call('ZCARD', log) - 1 - kept
  if surplus > 0 then
    local last = redis.call('ZRANGE', log, surplus, surplus, 'WITHSCORES')[2]
    redis.call('ZREMRANGEBYRANK', log, 1, surplus)
    redis.call('ZADD', log, last, 'floor')
  end
  redis.call('SPUBLISH', channel, '')
end

-- Empties a member's message log, so that its subscribers get a gap.
local function lose_log(log, minted, partition, channel)
  redis.call('ZREMRANGEBYRANK', log, 1, -1)
  redis.call('ZADD', log, str(mint(minted, partition)), 'floor')
  redis.call('SPUBLISH', channel, '')
end
