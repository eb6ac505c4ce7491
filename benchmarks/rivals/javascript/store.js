// Reads and writes Perch's keys for the rivals. `run` sends commands in one round trip and returns their replies.

import { digits, key, mint, readHome, readPost, readScored, readSources, readUser } from './layout.js'

const HOME_SIZE = 800 // newest entries that a home keeps
const FANOUT_INLINE = 1000 // followers that get a post before it is answered

export const homeKey = (member) => key('home', Number(member))
export const profileKey = (member) => key('profile', member)
export const sessionOf = (claims) => ['hget', key('sessions', Number(claims.sub)), claims.sid]

export function check(session) {
  if (session === null || JSON.parse(session).expires <= Date.now()) throw new Error('the session has ended')
}

export function createStore(run) {
  /** Returns what was read for each of some ids, each read once. */
  async function each(ids, command, read) {
    const distinct = [...new Set(ids)]
    const found = distinct.length ? await run(distinct.map(command)) : []
    const byId = new Map(distinct.map((id, i) => [id, read(id, found[i])]))
    return ids.map((id) => byId.get(id))
  }

  const hashes = (kind, read) => (ids) => each(ids, (id) => ['hgetall', key(kind, id)], read)
  const users = hashes('user', readUser)
  const posts = hashes('status', readPost)

  const likedCommand = (viewer) => (post) => ['zscore', key('likes', post), viewer]
  const liked = (viewer, ids) => each(ids, likedCommand(viewer), (_, score) => score !== null)

  /** Returns the members who reposted each entry of the viewer's home. */
  async function reposters(viewer, entries) {
    const [found] = await run([['hmget', key('sources', Number(viewer)), ...entries.map(({ post }) => post)]])
    return entries.map(({ place }, i) => readSources(found[i], place))
  }

  /** Returns the first entries of a timeline, and whether there are more. The session is checked in the same trip. */
  async function firstEntries(kind, timeline, first, claims) {
    const commands = kind === 'home'
      ? [['get', timeline.replace('home', 'newest')], ['lrange', timeline, -first - 1, -1]]
      : [['zrevrange', timeline, 0, first, 'withscores']]
    const replies = await run(claims ? [sessionOf(claims), ...commands] : commands)
    if (claims) check(replies.shift())
    const scanned = kind === 'home' ? readHome(...replies) : readScored(...replies)
    return [scanned.slice(0, first), scanned.length > first]
  }

  /** Returns a page of entries whose posts were read; entries of posts that are missing are left out. */
  function page(kind, entries, nodes, hasNextPage) {
    const edges = []
    entries.forEach(([post, place], i) => {
      if (nodes[i]) edges.push({ cursor: `${kind}.${digits(place)}`, node: nodes[i], post, place })
    })
    const endCursor = entries.length ? `${kind}.${digits(entries.at(-1)[1])}` : null
    return { edges, pageInfo: { endCursor, hasNextPage } }
  }

  async function firstPage(kind, timeline, first, claims) {
    const [entries, hasNextPage] = await firstEntries(kind, timeline, first, claims)
    return page(kind, entries, await posts(entries.map(([post]) => post)), hasNextPage)
  }

  async function userByLogin(login, claims) {
    const [session, number] = await run([sessionOf(claims), ['get', `login:{${login.toLowerCase()}}`]])
    check(session)
    return number === null ? null : (await users([Number(number)]))[0]
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

  return { firstEntries, firstPage, liked, likedCommand, page, posts, publish, reposters, run, userByLogin, users }
}
