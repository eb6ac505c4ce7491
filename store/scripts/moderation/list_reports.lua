-- Reads the reports of the first cases in a list, the newest report of each case first.
-- KEYS: cases.
-- ARGV: case_reports_prefix, limit.
-- Returns their ids.
local found = {}
limit = tonumber(limit)
for _, case in ipairs(redis.call('ZRANGE', cases, 0, limit - 1, 'REV')) do
  local reports = redis.call('ZRANGE', case_reports_prefix .. case, 0, limit - #found - 1, 'REV', 'WITHSCORES')
  for i = 2, #reports, 2 do
    found[#found + 1] = str(tonumber(reports[i]))
  end
  if #found >= limit then
    break
  end
end
return found
