-- Lists a post or comment that mentions a member, and notifies them. Repeating it changes nothing.
-- KEYS: mentions, following.
-- ARGV: mailboxes, member, author, post, comment ('0' without one),
--       private (private member whose followers alone see the mention, or ''), mentions_kept.
-- A block in either direction prevents the mention. A mention that the member cannot see is listed without a
-- notification: the member may be allowed to see it later.
local box = mailbox(mailboxes, member)
for _, set in ipairs({Stem.blocked .. box.tag, Stem.blocked_by .. box.tag}) do
  if redis.call('ZSCORE', set, author) then
    return 0
  end
end
if author == member or redis.call('EXISTS', Stem.user .. box.tag) == 0 then
  return 0
end
local text, id = post, post
if comment ~= '0' then
  text, id = comment .. ':' .. post, comment
end
local is_new = redis.call('ZADD', mentions, id, text) == 1
redis.call('ZREMRANGEBYRANK', mentions, 0, -tonumber(mentions_kept) - 1)
-- A mention older than everything in a full list has been notified before, or is too late.
if not is_new or not redis.call('ZSCORE', mentions, text) then
  return 0
end
if private == '' or private == member or redis.call('ZSCORE', following, private) then
  notify(box, 'MENTION', author, post, comment)
end
return 1
