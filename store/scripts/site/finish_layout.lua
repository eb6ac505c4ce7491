-- Raises the layout of the store, and drops how far the migration to it had come. It never lowers the layout.
-- KEYS: layout.
-- ARGV: version.
-- Returns 1, 0 when the store has this layout or a newer one.
if tonumber(redis.call('HGET', layout, LayoutField.VERSION) or 1) >= tonumber(version) then
  return 0
end
redis.call('DEL', layout)
redis.call('HSET', layout, LayoutField.VERSION, version)
return 1
