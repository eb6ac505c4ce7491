-- Notes that an export is no longer being sent. Its link is used up if the whole file was sent.
-- KEYS: exports, stream.
-- ARGV: session, digest (of the link), sender, is_sent ('1' or '').
-- Returns 1 if this sender had the lease, else 0.
if is_sent == '1' and string.match(redis.call('HGET', exports, session) or '', '^(%x+) ') == digest then
  redis.call('HDEL', exports, session)
end
if redis.call('GET', stream) ~= sender then
  return 0
end
redis.call('DEL', stream)
return 1
