-- Ends edges on the acting side: a member's own follows and requests, or follows or requests by others.
-- KEYS: minted, jobs, user, listing (following, followers or requests), requested? (with following).
-- ARGV: partition, member, counter, kind, tombstone_prefix, ttl (s), big_author_threshold, mailboxes, others...
-- `counter` is the field of the user with the length of the listing, '' for requests. `kind` is that of the job.
-- `tombstone_prefix` is '' for no tombstones, and `ttl` is theirs.
-- Returns the job's id and body, false when nothing changed.
-- The edge's id is its version: the other side removes that edge or an older one, never a newer one.
local edges, asked = {}, {}
local box = mailbox(mailboxes, member)
local notification = ({
  [UserField.FOLLOWING] = 'FOLLOW_APPROVED',
  [UserField.FOLLOWERS] = 'FOLLOW',
  [''] = 'FOLLOW_REQUEST',
})[counter]
local sets = {listing, requested}
for _, other in ipairs(others) do
  for _, set in ipairs(sets) do
    local edge = redis.call('ZSCORE', set, other)
    if edge then
      redis.call('ZREM', set, other)
      if tombstone_prefix ~= '' then
        redis.call('SET', tombstone_prefix .. other, edge, 'EX', ttl)
      end
      withdraw(box, notification, other)
      local ended = set == listing and counter ~= '' and edges or asked
      ended[#ended + 1] = {other, edge}
    end
  end
end
if #edges + #asked == 0 then
  return false
end
local count = redis.call('ZCARD', listing)
local exists = redis.call('EXISTS', user) == 1 -- not while the account is being deleted
if exists and counter == UserField.FOLLOWERS then
  weigh(user, jobs, minted, partition, member, count, big_author_threshold)
elseif exists and counter ~= '' then
  redis.call('HSET', user, counter, count)
end
local id = mint(minted, partition)
local body = cjson.encode({member = member, edges = edges, asked = asked})
commit(jobs, id, kind, body)
return {str(id), body}
