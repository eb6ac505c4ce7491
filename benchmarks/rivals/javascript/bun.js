// Bun's server and Redis client with graphql-jit, over Perch's own keys.
//
// Resolvers read ahead: a timeline reads its posts, flags and reposters in one round trip, then all members and quoted
// posts in the next. A data loader would collect the same keys field by field.

import { RedisClient } from 'bun'
import { buildSchema, parse, validate } from 'graphql'
import { compileQuery } from 'graphql-jit'

import { key, readPost, readSources, readUser } from './layout.js'
import { claimsOf, schema as text } from './schema.js'
import { createStore, homeKey, profileKey } from './store.js'

const REPOSTERS = 3 // read ahead for each post

const url = process.env.REDIS_URL
const redis = new RedisClient(url.replace(/^unix:\/\//, 'redis+unix://'))
const plain = (value) => (typeof value === 'number' ? String(value) : value)

/** Sends commands at once: the client puts what is sent in one turn of the loop into one write. */
const run = (commands) => Promise.all(commands.map(([name, ...args]) => redis.send(name, args.map(plain))))

const store = createStore(async (commands) => (await run(commands)).map(flat))

/** Returns a reply as the older protocol has it: scores are not paired with their members. */
const flat = (reply) => (Array.isArray(reply) && Array.isArray(reply[0]) ? reply.flat() : reply)

/** Returns the first page of a timeline with everything that its fields may ask for. */
async function readAhead(kind, timeline, first, viewer, claims) {
  const [entries, hasNextPage] = await store.firstEntries(kind, timeline, first, claims)
  const numbers = entries.map(([post]) => post)
  const count = numbers.length
  if (!count) return store.page(kind, entries, [], hasNextPage)
  const found = await run([
    ...numbers.map((post) => ['hgetall', key('status', post)]),
    ...numbers.map(store.likedCommand(viewer)),
    ...(kind === 'home' ? [['hmget', key('sources', Number(viewer)), ...numbers]] : []),
  ])
  const posts = numbers.map((post, i) => readPost(post, found[i]))
  const sources = entries.map(([, place], i) => readSources(kind === 'home' && found[2 * count][i], place))
  const shown = posts.filter(Boolean)
  const quoted = shown.flatMap(({ originalNumber }) => originalNumber ?? [])
  const [originals, members] = await Promise.all([
    store.posts(quoted).then(async (found) => ({ found, authors: await authorsOf(found.filter(Boolean)) })),
    byNumber([...shown.map((post) => post.authorNumber), ...sources.flatMap((some) => some.slice(0, REPOSTERS))]),
  ])
  originals.found.forEach((post) => post && Object.assign(post, { author: originals.authors.get(post.authorNumber) }))
  const byId = new Map(quoted.map((post, i) => [post, originals.found[i]]))
  posts.forEach((post, i) => {
    if (!post) return
    post.author = members.get(post.authorNumber)
    post.viewerHasLiked = found[count + i] !== null
    if (post.originalNumber) post.original = byId.get(post.originalNumber)
  })
  const page = store.page(kind, entries, posts, hasNextPage)
  const reposters = new Map(numbers.map((post, i) => [post, sources[i]]))
  for (const edge of page.edges) {
    const found = reposters.get(edge.post)
    edge.repostedByCount = found.length
    edge.reposters = found.slice(0, REPOSTERS).map((member) => ({ user: members.get(member) }))
  }
  return page
}

async function byNumber(numbers) {
  const distinct = [...new Set(numbers)]
  const found = distinct.length ? await run(distinct.map((number) => ['hgetall', key('user', number)])) : []
  return new Map(distinct.map((number, i) => [number, readUser(number, found[i])]))
}

const authorsOf = (posts) => byNumber(posts.map((post) => post.authorNumber))

const resolvers = {
  Query: {
    homeTimeline: (_, { first }, { claims }) => readAhead('home', homeKey(claims.sub), first, claims.sub, claims),
    user: (_, { login }, { claims }) => store.userByLogin(login, claims),
  },
  User: { timeline: (user, { first }, { claims }) => readAhead('profile', profileKey(user.number), first, claims.sub) },
  TimelineEdge: { repostedBy: ({ reposters }, { first }) => reposters.slice(0, first) },
  Mutation: {
    post: async (_, { input }, { claims }) => {
      const status = await store.publish(claims, input.text)
      status.author = (await authorsOf([status])).get(status.authorNumber)
      return { status, userErrors: [] }
    },
  },
}

const schema = buildSchema(text)
for (const [type, fields] of Object.entries(resolvers)) {
  for (const [name, resolve] of Object.entries(fields)) schema.getType(type).getFields()[name].resolve = resolve
}
for (const name of ['TimelineItem', 'Post']) schema.getType(name).resolveType = (post) => post.__typename
const compiled = new Map() // documents that were compiled, by their text

function compile(query) {
  const document = parse(query)
  const errors = validate(schema, document)
  const found = errors.length ? { errors } : compileQuery(schema, document)
  compiled.set(query, found)
  return found
}

async function answer(request) {
  const { query, variables } = await request.json()
  const claims = claimsOf(request.headers.get('authorization'))
  const found = compiled.get(query) ?? compile(query)
  return Response.json(found.query ? await found.query({}, { claims }, variables) : found)
}

Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT), idleTimeout: 255, fetch: answer })
