-- Shared by all scripts, after the prelude: follows and requests, on the followed side.
--
-- Returns a follower's edge if it is on its way here: their own side had it before this change, and this side has neither
-- seen nor ended it. Else nil. `there` is the edge on their side, '' for none. `at` is a table: the member's `followers`
-- and `requests`, and the `tombstone` of this follower.
local function on_its_way(there, follower, at)
  if there == '' then
    return nil
  end
  local newest = tonumber(redis.call('GET', at.tombstone) or '0')
  for _, set in ipairs({at.followers, at.requests}) do
    newest = math.max(newest, tonumber(redis.call('ZSCORE', set, follower) or '0'))
  end
  return tonumber(there) > newest and there or nil
end
