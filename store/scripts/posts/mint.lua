-- Mints an id before its entity exists, so that names can be reserved for it.
-- KEYS: minted.
-- ARGV: partition.
return str(mint(minted, partition))
