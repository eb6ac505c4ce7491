-- Makes an id before the thing exists: names are reserved for it first.
-- KEYS minted; ARGV partition
return str(mint(KEYS[1], ARGV[1]))
