// Reads and writes Perch's keys for the rival.

import { Redis } from 'ioredis'

const EPOCH = Date.UTC(2024, 0, 1)
const HOME_SIZE = 800 // newest entries that a home keeps
const FANOUT_INLINE = 1000 // followers that get a post before it is answered

const digits = (id) => id.toString(16).padStart(14, '0')
const partition = (id) => Math.floor(id / 16) % 256
const instant = (id) => new Date(EPOCH + Math.floor(id / 4096)).toISOString()
const key = (kind, id) => `${kind}:{${partition(id)}}:${id}`

export const homeKey = (member) => key('home', Number(member))
export const profileKey = (member) => key('profile', member)

/** Returns post and place of the entries of a home, newest first. A place is stored where it is not the post's id. */
function readHome(waiting, listed) {
  const found = new Map()
  for (const entry of listed) {
    const [post, place = post] = entry.split(':')
    found.set(Number(place), Number(post))
  }
  // A place, then the posts that are not in the list yet.
  for (const post of (waiting ?? '').trim().split(/ +/).slice(1)) found.set(Number(post), Number(post))
  return [...found].map(([place, post]) => [post, place]).sort((a, b) => b[1] - a[1])
}

/** Returns post and place of the entries of a sorted set. */
function readScored(reply) {
  return reply.flatMap((entity, i) => (i % 2 ? [] : [[Number(entity), Number(reply[i + 1])]]))
}

function readPost(number, fields) {
  if (fields.author === undefined || fields.hidden !== undefined) return null
  const __typename = fields.original === undefined ? 'Status' : 'Repost'
  return {
    __typename,
    id: `${__typename.toLowerCase()}_${digits(number)}`,
    text: fields.text,
    createdAt: instant(number),
    likeCount: Number(fields.likes ?? 0),
    repostCount: Number(fields.reposts ?? 0),
    quoteCount: Number(fields.quotes ?? 0),
    commentCount: Number(fields.comments ?? 0),
    replyCount: Number(fields.replies ?? 0),
    authorNumber: Number(fields.author),
  }
}

function readUser(number, fields) {
  if (fields.login === undefined) return null
  return {
    number,
    id: `user_${digits(number)}`,
    login: fields.login,
    name: fields.name,
    bio: fields.bio,
    createdAt: instant(number),
    followerCount: Number(fields.followers),
    followingCount: Number(fields.following),
    postCount: Number(fields.posts),
  }
}

export function createStore(url) {
  const redis = url.startsWith('unix://')
    ? new Redis({ path: decodeURIComponent(url.slice('unix://'.length)) })
    : new Redis(url)
  let newest = 0 // the newest id that this process has made

  // A pipeline whose commands are called one by one takes less processor time than a list or autopipelining.
  async function run(commands) {
    const pipeline = redis.pipeline()
    for (const [name, ...args] of commands) pipeline[name](...args)
    const replies = await pipeline.exec()
    for (const [error] of replies) if (error) throw error
    return replies.map(([, reply]) => reply)
  }

  const sessionOf = (claims) => ['hget', key('sessions', Number(claims.sub)), claims.sid]

  function check(session) {
    if (session === null || JSON.parse(session).expires <= Date.now()) throw new Error('the session has ended')
  }

  const records = (kind, ids) => run(ids.map((id) => ['hgetall', key(kind, id)]))

  async function users(ids) {
    const distinct = [...new Set(ids)]
    const found = await records('user', distinct)
    const byId = new Map(distinct.map((id, i) => [id, readUser(id, found[i])]))
    return ids.map((id) => byId.get(id))
  }

  /** Returns the first page of a timeline. With claims, the session is checked in the same round trip. */
  async function firstPage(kind, timeline, first, claims) {
    const commands = kind === 'home'
      ? [['get', timeline.replace('home', 'newest')], ['lrange', timeline, -first - 1, -1]]
      : [['zrevrange', timeline, 0, first, 'withscores']]
    const replies = await run(claims ? [sessionOf(claims), ...commands] : commands)
    if (claims) check(replies.shift())
    const scanned = kind === 'home' ? readHome(...replies) : readScored(...replies)
    const entries = scanned.slice(0, first)
    const found = await records('status', entries.map(([post]) => post))
    const edges = []
    entries.forEach(([post, place], i) => {
      const node = readPost(post, found[i])
      if (node) edges.push({ cursor: `${kind}.${digits(place)}`, node })
    })
    const endCursor = entries.length ? `${kind}.${digits(entries.at(-1)[1])}` : null
    return { edges, pageInfo: { endCursor, hasNextPage: scanned.length > first } }
  }

  async function userByLogin(login, claims) {
    const [session, number] = await run([sessionOf(claims), ['get', `login:{${login.toLowerCase()}}`]])
    check(session)
    return number === null ? null : (await users([Number(number)]))[0]
  }

  function mint(member) {
    newest = Math.max((Date.now() - EPOCH) * 16, newest + 1)
    return Math.floor(newest / 16) * 4096 + partition(member) * 16 + (newest % 16)
  }

  /** Delivers to the followers in batches, first to those that get the post before it is answered. */
  async function deliver(post, followers) {
    for (let i = 0; i < followers.length; i += FANOUT_INLINE) {
      const batch = followers.slice(i, i + FANOUT_INLINE).map(homeKey)
      await run(batch.flatMap((home) => [['rpush', home, post], ['ltrim', home, -HOME_SIZE, -1]]))
    }
  }

  async function publish(claims, text) {
    const member = Number(claims.sub)
    const post = mint(member)
    const [session, followers] = await run([sessionOf(claims), ['zrange', key('followers', member), 0, -1]])
    check(session)
    await run([
      ['hset', key('status', post), 'author', member, 'text', text],
      ['zadd', profileKey(member), post, post],
      ['hincrby', key('user', member), 'posts', 1],
    ])
    const everybody = [member, ...followers]
    await deliver(post, everybody.slice(0, FANOUT_INLINE))
    if (everybody.length > FANOUT_INLINE) {
      setImmediate(() => deliver(post, everybody.slice(FANOUT_INLINE)).catch(console.error))
    }
    return readPost(post, { author: member, text })
  }

  return { firstPage, userByLogin, users, publish }
}
