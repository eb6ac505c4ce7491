// Fastify and Mercurius with compiled queries and batched loaders, ioredis, over Perch's own keys.

import { createVerifier } from 'fast-jwt'
import Fastify from 'fastify'
import mercurius from 'mercurius'

import { createStore, homeKey, profileKey } from './store.js'

const schema = `
  scalar DateTime
  interface Post {
    id: ID! author: User! text: String! createdAt: DateTime!
    likeCount: Int! repostCount: Int! quoteCount: Int! commentCount: Int! replyCount: Int!
  }
  type Status implements Post {
    id: ID! author: User! text: String! createdAt: DateTime!
    likeCount: Int! repostCount: Int! quoteCount: Int! commentCount: Int! replyCount: Int!
  }
  type Repost implements Post {
    id: ID! author: User! text: String! createdAt: DateTime!
    likeCount: Int! repostCount: Int! quoteCount: Int! commentCount: Int! replyCount: Int!
  }
  type User {
    id: ID! login: String! name: String! bio: String! createdAt: DateTime!
    followerCount: Int! followingCount: Int! postCount: Int!
    timeline(first: Int!): Timeline!
  }
  union TimelineItem = Status | Repost
  type TimelineEdge { cursor: String! node: TimelineItem! }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type Timeline { edges: [TimelineEdge!]! pageInfo: PageInfo! }
  input PostInput { text: String! }
  type UserError { message: String! }
  type PostPayload { status: Status userErrors: [UserError!]! }
  type Query { homeTimeline(first: Int!): Timeline user(login: String!): User }
  type Mutation { post(input: PostInput!): PostPayload! }
`

const store = createStore(process.env.REDIS_URL)
const verify = createVerifier({
  key: process.env.SECRET_KEY,
  algorithms: ['HS256'],
  allowedIss: 'perch',
  requiredClaims: ['sub', 'sid', 'exp'],
  cache: 10_000, // verified tokens are cached
})

const author = {
  opts: { cache: false }, // a cache would serialize a key per post; authors are batched by hand instead
  loader: (queries) => store.users(queries.map(({ obj }) => obj.authorNumber)),
}
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
  loaders: { Status: { author }, Repost: { author } },
  jit: 1,
  context: (request) => ({ claims: verify(request.headers.authorization.slice('Bearer '.length)) }),
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
