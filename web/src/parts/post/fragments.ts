import { type FragmentOf, graphql } from "../../data/graphql/tada";
import { pictureFragment } from "../pictures/fragments";

export const authorFragment = graphql(`
  fragment Author on User { id login name avatar { id small: url(size: SMALL) } }
`);

export const bodyFragment = graphql(
  `
  fragment Body on Post {
    __typename
    id
    text
    createdAt
    isHidden
    likeCount
    repostCount
    quoteCount
    replyCount
    viewerHasLiked
    viewerHasReposted
    viewerHasFavourited
    author { ...Author }
    mentions { id login }
    images { ...Picture }
    ... on Status {
      inReplyTo { id author { ...Author } }
      group { id name }
    }
  }
`,
  [authorFragment, pictureFragment],
);

export const postFragment = graphql(
  `
  fragment Card on Post {
    ...Body
    ... on Repost {
      original {
        ...Body
        ... on Repost { original { ...Body } }
      }
    }
  }
`,
  [bodyFragment],
);

export const entriesFragment = graphql(
  `
  fragment Entries on Timeline {
    edges {
      cursor
      node {
        __typename
        ... on Node { id }
        ... on Post { ...Card }
        ... on Promotion {
          sponsor { ...Author }
          subject {
            __typename
            ... on Status { ...Card }
            ... on User { ...Author bio }
            ... on Advertisement { title text url }
          }
        }
      }
      repostedBy(first: 3) { user { ...Author } }
      repostedByCount
    }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
`,
  [authorFragment, postFragment],
);

export type Author = FragmentOf<typeof authorFragment>;
export type Body = FragmentOf<typeof bodyFragment>;
export type Card = FragmentOf<typeof postFragment>;
export type Entries = FragmentOf<typeof entriesFragment>;
export type Edge = Entries["edges"][number];
