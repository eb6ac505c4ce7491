// Perch's keys and records, as the rivals read them.

const EPOCH = Date.UTC(2024, 0, 1)
let newest = 0 // the newest id that this process has made

const partition = (id) => Math.floor(id / 16) % 256
const instant = (id) => new Date(EPOCH + Math.floor(id / 4096)).toISOString()

export const digits = (id) => id.toString(16).padStart(14, '0')
export const key = (kind, id) => `${kind}:{${partition(id)}}:${id}`

export function mint(member) {
  newest = Math.max((Date.now() - EPOCH) * 16, newest + 1)
  return Math.floor(newest / 16) * 4096 + partition(member) * 16 + (newest % 16)
}

/** Returns post and place of the entries of a home, newest first. A place is stored where it is not the post's id. */
export function readHome(waiting, listed) {
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
export function readScored(reply) {
  return reply.flatMap((entity, i) => (i % 2 ? [] : [[Number(entity), Number(reply[i + 1])]]))
}

/** Returns the members whose reposts are sources of a post: those since the last lift, then the earlier ones. */
export function readSources(text, place) {
  const since = []
  const earlier = []
  for (const source of text ? text.split(' ') : []) {
    const [repost, member] = source.split(':').map(Number)
    if (member) (repost >= place ? since : earlier).push(member)
  }
  return [...since, ...earlier]
}

export function readPost(number, fields) {
  if (fields.author === undefined || fields.hidden !== undefined) return null
  const __typename = fields.original === undefined ? 'Status' : 'Repost'
  return {
    __typename,
    number,
    id: `${__typename.toLowerCase()}_${digits(number)}`,
    text: fields.text,
    createdAt: instant(number),
    likeCount: Number(fields.likes ?? 0),
    repostCount: Number(fields.reposts ?? 0),
    quoteCount: Number(fields.quotes ?? 0),
    commentCount: Number(fields.comments ?? 0),
    replyCount: Number(fields.replies ?? 0),
    authorNumber: Number(fields.author),
    originalNumber: fields.original === undefined ? null : Number(fields.original),
  }
}

export function readUser(number, fields) {
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
