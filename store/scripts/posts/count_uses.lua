-- Counts uses of tags in an hour.
-- KEYS: uses.
-- ARGV: tags_kept, ttl (s), counts... (tag, how often, tag, how often, ...).
count_tags(uses, tags_kept, ttl, counts)
