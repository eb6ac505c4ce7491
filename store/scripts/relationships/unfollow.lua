-- Ends edges on the acting side: a member's own follows and requests, or follows or requests by others.
-- KEYS minted, jobs, user, then the set and, for own follows, the set of own requests
-- ARGV partition, member, counter or '', kind of the job, tombstone prefix or '', tombstone's life (s),
--      followers that make a big author, mailboxes, others...
-- Returns the job's id and body, false when nothing changed.
-- The edge's id is its version: the other side removes that edge or an older one, never a newer one.
local edges, asked = {}, {}
local box = mailbox(ARGV[8], ARGV[2])
local told = ({following = 'FOLLOW_APPROVED', followers = 'FOLLOW'})[ARGV[3]] or 'FOLLOW_REQUEST'
for i = 9, #ARGV do
  for k = 4, #KEYS do
    local edge = redis.call('ZSCORE', KEYS[k], ARGV[i])
    if edge then
      redis.call('ZREM', KEYS[k], ARGV[i])
      if ARGV[5] ~= '' then
        redis.call('SET', ARGV[5] .. ARGV[i], edge, 'EX', ARGV[6])
      end
      withdraw(box, told, ARGV[i])
      local ended = k == 4 and ARGV[3] ~= '' and edges or asked
      ended[#ended + 1] = {ARGV[i], edge}
    end
  end
end
if #edges + #asked == 0 then
  return false
end
local count = redis.call('ZCARD', KEYS[4])
local exists = redis.call('EXISTS', KEYS[3]) == 1 -- not while the account is being deleted
if exists and ARGV[3] == 'followers' then
  weigh(KEYS[3], KEYS[2], KEYS[1], ARGV[1], ARGV[2], count, ARGV[7])
elseif exists and ARGV[3] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[3], count)
end
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({member = ARGV[2], edges = edges, asked = asked})
commit(KEYS[2], id, ARGV[4], body)
return {str(id), body}
