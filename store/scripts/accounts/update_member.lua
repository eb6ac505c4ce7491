-- Changes fields of the profile and the credentials together.
-- KEYS: minted, jobs, user, credentials, former_logins, images, uploads.
-- ARGV: partition, names (JSON, or ''), release_seconds, profile_count, member, image_prefix, pictures (JSON, or ''),
--       changes...
-- `names` has the member and the new login, e-mail or name. It is '' when none of these changes.
-- `release_seconds` says how long a former login stays reserved.
-- `changes` are pairs of a field and its new text.
-- The first `profile_count` pairs are of the profile, the others of the credentials.
-- `pictures` has avatar and header, as far as they change. Each is the `wanted` of `first_obstacle`, empty to remove it.
-- Returns {'done', the job's kind, id and body}, {'done'} without one, {'image', field, obstacle}.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local wanted, dropped = pictures ~= '' and cjson.decode(pictures) or {}, {}
for field, new in pairs(wanted) do
  local old = redis.call('HGET', user, field) or ''
  -- The picture that the profile shows already may be named again, to change what is said of it.
  if new[1] and new[1][1] ~= string.match(old, PACKED_PICTURE) then
    local _, obstacle = first_obstacle(image_prefix, member, string.upper(field), new)
    if obstacle then
      return {'image', field, obstacle}
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
local job = names ~= '' and cjson.decode(names)
if job then
  job.old_login = job.login and redis.call('HGET', user, UserField.LOGIN)
  job.old_email = job.email and redis.call('HGET', credentials, CredentialsField.EMAIL)
  job.was_verified = job.email and redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 1
  if job.old_login then
    local now = redis.call('TIME')[1]
    redis.call('ZREMRANGEBYSCORE', former_logins, '-inf', now - release_seconds)
    redis.call('ZADD', former_logins, now, string.lower(job.old_login))
  end
end
for i = 1, #changes, 2 do
  redis.call('HSET', i <= 2 * profile_count and user or credentials, changes[i], changes[i + 1])
end
if not job and #dropped == 0 then
  return {'done'}
end
local kind = job and 'names' or 'remove_objects'
job = job or {}
job.objects = #dropped > 0 and table.concat(dropped, ' ') or nil
local id, body = mint(minted, partition), cjson.encode(job)
commit(jobs, id, kind, body)
return {'done', kind, str(id), body}
