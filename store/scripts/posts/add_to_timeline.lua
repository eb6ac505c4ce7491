-- Adds posts to a bounded timeline that everybody reads, public or of a hashtag, and to its ranking.
-- KEYS: timeline, ranking.
-- ARGV: timeline_size, ranking_size, scored... (post, score, post, score, ...).
-- Returns how many posts it removed from a full timeline.
-- A post older than everything in a full timeline is removed at once.
if #scored > 0 then -- none to trim alone
  list_publicly(timeline, ranking, scored)
end
return trim_publicly(timeline, ranking, timeline_size, ranking_size)
