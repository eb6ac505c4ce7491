-- Looks up the places of posts in a home.
-- KEYS: home, newest.
-- ARGV: posts...
-- Returns one place per post, false for a post that is not listed.
local at, found, waiting = {home = home}, {}, redis.call('GET', newest) or ''
load_home(at)
for post in string.gmatch(string.sub(waiting, WIDTH + 1), '%d+') do
  at.places[post] = tonumber(post)
end
for i, post in ipairs(posts) do
  found[i] = at.places[post] and str(at.places[post]) or false
end
return found
