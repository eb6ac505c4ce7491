-- Begins to build homes of one partition as `begin_home` does, also those that are ready: the builder adds to them.
-- KEYS: active.
-- ARGV: members...
-- `active` is named for its slot. Returns for each member the number of changes since the build began.
local begun = {}
for i, member in ipairs(members) do
  begun[i] = begin_building(Stem.home_state .. tag_of(member), true)
end
return begun
