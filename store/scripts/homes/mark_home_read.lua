-- Marks a home as read up to a place. The mark never falls.
-- KEYS: home_read, user.
-- ARGV: place.
-- Returns 1, 0 when the member is gone.
if redis.call('EXISTS', user) == 0 then
  return 0
end
if tonumber(place) > tonumber(redis.call('GET', home_read) or '0') then
  redis.call('SET', home_read, place)
end
return 1
