-- Notes where a member sends a text.
-- KEYS: texts.
-- ARGV: digest (of the text), target, most_targets.
-- Returns 1; 0, and notes nothing, if the text was sent to as many others as may get it.
return sends(texts, digest, target, most_targets) and 1 or 0
