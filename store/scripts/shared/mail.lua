-- Shared by the scripts that send mails and check the tokens of their links.

-- Adds a mail to the outbox of the partition, in the step that makes it necessary. `mail` is its record in JSON, and `to`
-- the address, '' for a member who has none. `delay` is in ms, 0 by default.
local function queue_mail(outbox, mails, id, mail, to, delay)
  if to == '' then
    return
  end
  local record = cjson.decode(mail)
  record.to = to
  redis.call('HSET', mails, str(id), cjson.encode(record))
  redis.call('ZADD', outbox, str(now_ms() + (delay or 0)), str(id))
end

-- Stores the digest of a token, in place of an earlier one of the same purpose.
local function keep_token(tokens, purpose, digest, address, lifetime)
  local record = {digest = digest, address = address, expires = now_ms() + lifetime * 1000}
  redis.call('HSET', tokens, purpose, cjson.encode(record))
  if redis.call('TTL', tokens) < tonumber(lifetime) then
    redis.call('EXPIRE', tokens, lifetime)
  end
end

-- Returns the record of a token that has not expired, nil without one.
local function unexpired_token(tokens, purpose)
  local text = redis.call('HGET', tokens, purpose)
  local record = text and cjson.decode(text)
  return record and record.expires > now_ms() and record or nil
end

-- Uses a token up. Returns its record; nil for one that is forged, used, replaced or expired.
local function use_token(tokens, purpose, digest)
  local record = unexpired_token(tokens, purpose)
  if record and record.digest == digest then
    redis.call('HDEL', tokens, purpose)
    return record
  end
end
