-- Lists a post or comment that mentions a member, and notifies them. Repeating it changes nothing.
-- KEYS mentions, following
-- ARGV mailboxes, member, author, post, comment or '0', private member whose followers alone see it or '',
--      mentions kept
-- A block in either direction prevents the mention. A mention that the member cannot see is listed without a
-- notification: the member may be allowed to see it later.
local box, author, post, comment = mailbox(ARGV[1], ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
for _, set in ipairs({box.blocked, box.blocked_by}) do
  if redis.call('ZSCORE', set, author) then
    return 0
  end
end
if author == box.member or redis.call('EXISTS', box.user) == 0 then
  return 0
end
local text, id = post, post
if comment ~= '0' then
  text, id = comment .. ':' .. post, comment
end
local is_new = redis.call('ZADD', KEYS[1], id, text) == 1
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[7]) - 1)
-- A mention older than everything in a full list has been notified before, or is too late.
if not is_new or not redis.call('ZSCORE', KEYS[1], text) then
  return 0
end
if ARGV[6] == '' or ARGV[6] == box.member or redis.call('ZSCORE', KEYS[2], ARGV[6]) then
  notify(box, 'MENTION', author, post, comment)
end
return 1
