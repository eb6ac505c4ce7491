// Fastify and Mercurius with compiled queries and batched loaders, ioredis, over Perch's own keys.

import Fastify from 'fastify'
import { Redis } from 'ioredis'
import mercurius from 'mercurius'

import { claimsOf, schema } from './schema.js'
import { createStore, homeKey, profileKey } from './store.js'

const url = process.env.REDIS_URL
const redis = url.startsWith('unix://')
  ? new Redis({ path: decodeURIComponent(url.slice('unix://'.length)) })
  : new Redis(url)

// A pipeline whose commands are called one by one takes less processor time than a list or autopipelining.
async function run(commands) {
  const pipeline = redis.pipeline()
  for (const [name, ...args] of commands) pipeline[name](...args)
  const replies = await pipeline.exec()
  for (const [error] of replies) if (error) throw error
  return replies.map(([, reply]) => reply)
}

const store = createStore(run)

// A cache would serialize a key per post. The loaders are batched by hand instead.
const batched = (loader) => ({ opts: { cache: false }, loader })
const author = batched((queries) => store.users(queries.map(({ obj }) => obj.authorNumber)))
const viewerHasLiked = batched((queries, { claims }) => store.liked(claims.sub, queries.map(({ obj }) => obj.number)))
const original = batched((queries) => store.posts(queries.map(({ obj }) => obj.originalNumber)))

/** Returns the members who reposted the posts of edges, in the same order. */
const reposters = (queries, { claims }) => store.reposters(claims.sub, queries.map(({ obj }) => obj))
const repostedBy = batched(async (queries, context) => {
  const members = (await reposters(queries, context)).map((found, i) => found.slice(0, queries[i].params.first))
  const users = await store.users(members.flat())
  return members.map((found) => found.map(() => ({ user: users.shift() })))
})
const repostedByCount = batched(async (queries, context) =>
  (await reposters(queries, context)).map((members) => members.length))

const itsType = { resolveType: (post) => post.__typename }
const resolvers = {
  Query: {
    homeTimeline: (_, { first }, { claims }) => store.firstPage('home', homeKey(claims.sub), first, claims),
    user: (_, { login }, { claims }) => store.userByLogin(login, claims),
  },
  User: { timeline: (user, { first }) => store.firstPage('profile', profileKey(user.number), first) },
  Mutation: {
    post: async (_, { input }, { claims }) => ({ status: await store.publish(claims, input.text), userErrors: [] }),
  },
  TimelineItem: itsType,
  Post: itsType,
}

const app = Fastify({ logger: false, keepAliveTimeout: 0 })
app.register(mercurius, {
  schema,
  resolvers,
  loaders: {
    Status: { author, viewerHasLiked },
    Repost: { author, viewerHasLiked, original },
    TimelineEdge: { repostedBy, repostedByCount },
  },
  jit: 1,
  context: (request) => ({ claims: claimsOf(request.headers.authorization) }),
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
