-- Notes that a partition has a layout, unless a process runs that does not know it and may undo the migration.
-- KEYS: layout, processes.
-- ARGV: partition, version, now (ms since 1970).
-- Returns how many such processes run. With 0, it has noted the partition.
-- A process announces itself before it looks at the layout. So one that this script does not see will see the note.
local older = 0
for _, name in ipairs(redis.call('ZRANGEBYSCORE', processes, now, '+inf')) do
  if tonumber(string.match(name, '^%d+')) < tonumber(version) then
    older = older + 1
  end
end
if older == 0 and tonumber(redis.call('HGET', layout, LayoutField.VERSION) or 1) < tonumber(version) then
  redis.call('HSET', layout, partition, version)
end
return older
