-- Mints ids before their entities exist, so that names can be reserved for them.
-- KEYS: minted.
-- ARGV: partition, count.
-- Returns the ids, in ascending order.
return mint_many(minted, partition, tonumber(count))
