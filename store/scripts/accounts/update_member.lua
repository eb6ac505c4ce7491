-- Changes fields of the profile and the credentials together.
-- KEYS: minted, jobs, user, credentials, former_logins, images, uploads.
-- ARGV: partition, names (JSON, or ''), release_seconds, profile_count, member, image_prefix, pictures (JSON, or ''),
--       changes...
-- `names` has the new login, e-mail or name. It is '' when none of these changes.
-- `release_seconds` says how long a former login stays reserved.
-- `changes` are pairs of a field and its new text.
-- The first `profile_count` pairs are of the profile, the others of the credentials.
-- `pictures` has avatar and header, as far as they change. Each is the `wanted` of `first_obstacle`, empty to remove it.
-- Returns {the job's id, body and kind}, {} without one, or the refusal of a picture, with its field in place of its place.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local wanted, dropped = pictures ~= '' and cjson.decode(pictures) or {}, {}
for field, new in pairs(wanted) do
  local old = redis.call('HGET', user, field) or ''
  -- The picture that the profile shows already may be named again, to change what is said of it.
  if new[1] and new[1][1] ~= string.match(old, PACKED_PICTURE) then
    local obstacle = obstacle_of(image_prefix .. new[1][1], member, string.upper(field))
    if obstacle then
      return obstacle .. ' ' .. field
    end
  end
end
for field, new in pairs(wanted) do
  local old = redis.call('HGET', user, field)
  if old and (not new[1] or new[1][1] ~= string.match(old, PACKED_PICTURE)) then
    dropped[#dropped + 1] = drop_images(image_prefix, images, old)
  end
  if new[1] then
    redis.call('HSET', user, field, attach_images(image_prefix, uploads, new, 'user:' .. member))
  else
    redis.call('HDEL', user, field)
  end
end
-- The old names are read in this step. So of two simultaneous changes, the later one releases the earlier one's names.
local new = names ~= '' and cjson.decode(names)
local old_login, old_email, was_verified
if new then
  old_login = new.login and redis.call('HGET', user, UserField.LOGIN)
  old_email = new.email and redis.call('HGET', credentials, CredentialsField.EMAIL)
  was_verified = new.email and redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 1
  if old_login then
    local now = redis.call('TIME')[1]
    redis.call('ZREMRANGEBYSCORE', former_logins, '-inf', now - release_seconds)
    redis.call('ZADD', former_logins, now, string.lower(old_login))
  end
end
for i = 1, #changes, 2 do
  redis.call('HSET', i <= 2 * profile_count and user or credentials, changes[i], changes[i + 1])
end
if not new and #dropped == 0 then
  return {}
end
local id, objects = mint(minted, partition), #dropped > 0 and table.concat(dropped, ' ') or nil
if not new then
  return {str(id), commit(jobs, id, 'remove_objects', {objects = objects}), 'remove_objects'}
end
return {str(id), commit(jobs, id, 'names', {
  member = member, login = new.login, email = new.email, name = new.name, old_login = old_login, old_email = old_email,
  was_verified = was_verified, objects = objects,
}), 'names'}
