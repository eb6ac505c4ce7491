// The part of Perch's schema that the requests use, and the verification of tokens.

import { createVerifier } from 'fast-jwt'

const post = `
  id: ID! author: User! text: String! createdAt: DateTime!
  likeCount: Int! repostCount: Int! quoteCount: Int! commentCount: Int! replyCount: Int! viewerHasLiked: Boolean!`

export const schema = `
  scalar DateTime
  interface Post { ${post} }
  type Status implements Post { ${post} }
  type Repost implements Post { ${post} original: Post }
  type User {
    id: ID! login: String! name: String! bio: String! createdAt: DateTime!
    followerCount: Int! followingCount: Int! postCount: Int!
    timeline(first: Int!): Timeline!
  }
  union TimelineItem = Status | Repost
  type RepostSource { user: User! }
  type TimelineEdge {
    cursor: String! node: TimelineItem! repostedBy(first: Int!): [RepostSource!]! repostedByCount: Int!
  }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type Timeline { edges: [TimelineEdge!]! pageInfo: PageInfo! }
  input PostInput { text: String! }
  type UserError { message: String! }
  type PostPayload { status: Status userErrors: [UserError!]! }
  type Query { homeTimeline(first: Int!): Timeline user(login: String!): User }
  type Mutation { post(input: PostInput!): PostPayload! }
`

const verify = createVerifier({
  key: process.env.SECRET_KEY,
  algorithms: ['HS256'],
  allowedIss: 'perch',
  requiredClaims: ['sub', 'sid', 'exp'],
  cache: 10_000, // verified tokens are cached
})

/** Returns the claims of a request's token; throws for a forged or expired one. */
export const claimsOf = (authorization) => verify(authorization.slice('Bearer '.length))
