-- Shared by all scripts, after the prelude: ranks of roles, and the log of moderators' acts.
local RANKS = {MEMBER = 0, MODERATOR = 1, ADMIN = 2}

-- Returns whether somebody of a rank may act on a member: their role must be lower. A deleted account has no role.
local function is_below(credentials, rank)
  local role = redis.call('HGET', credentials, CredentialsField.ROLE)
  return (RANKS[role] or 0) < tonumber(rank)
end

-- Returns an act, given as JSON, to be put into the body of a job, which logs it; nil without one.
local function carried(act, text)
  if not act then
    return nil
  end
  local carried = cjson.decode(act)
  carried.text = text or ''
  return carried
end

-- Returns what the log keeps of a deleted post: the fields that `names` has, separated by spaces, a line for each.
local function logged_of(post, names)
  local texts = {}
  for name in string.gmatch(names, '%S+') do
    if post[name] ~= '' then
      texts[#texts + 1] = post[name]
    end
  end
  return table.concat(texts, '\n')
end

-- Appends an act to the log, once under its name, and returns its id; false when it is there already. Each act has the
-- digest of the one before, so that none can be changed or removed unnoticed. The text itself is kept for a while only,
-- so the digest covers the text's digest.
local function append_act(keys, act)
  if redis.call('ZSCORE', keys.log, act.name) then
    return false
  end
  local id = str(mint(keys.minted, keys.partition))
  local text_digest = act.text ~= '' and redis.sha1hex(act.text) or ''
  local previous = redis.call('HGET', keys.head, LogHeadField.DIGEST) or ''
  local digest = redis.sha1hex(table.concat({
    previous, id, act.name, act.actor, act.kind, act.subject, act.report, redis.sha1hex(act.note), text_digest,
  }, '\n'))
  redis.call('HSET', keys.act_prefix .. id, ModerationActField.ACTOR, act.actor, ModerationActField.KIND, act.kind,
    ModerationActField.SUBJECT, act.subject, ModerationActField.REPORT, act.report, ModerationActField.NOTE, act.note,
    ModerationActField.TEXT_DIGEST, text_digest, ModerationActField.PREVIOUS, previous, ModerationActField.DIGEST, digest)
  redis.call('ZADD', keys.log, id, act.name)
  redis.call('HSET', keys.head, LogHeadField.DIGEST, digest)
  redis.call('HINCRBY', keys.head, LogHeadField.COUNT, 1)
  if act.text ~= '' then
    redis.call('SET', keys.text_prefix .. id, act.text, 'EX', keys.text_seconds)
  end
  return id
end
