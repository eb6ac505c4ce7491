// The tabs that a new visitor finds, one operation each: log in, read, post, like, follow, and watch the home live.
//
// A variable such as "<FindMember.searchUsers.nodes.0.id>" is filled in by answers.js when the tab is run.

const SESSION = `accessToken
    refreshToken
    expiresAt
    viewer { user { id login name } }
    userErrors { code message field }`;

const USER_ERRORS = "userErrors { code message field }";

export const EXAMPLES = [
  {
    query: `# Log in as the guide of the demo, which
# "serve --demo" adds to an empty store.
# The page keeps the tokens of the answer,
# and refreshes them by itself.
mutation LogIn {
  logIn(
    input: {
      identifier: "robin"
      password: "birds of a feather"
    }
  ) {
    ${SESSION}
  }
}
`,
  },
  {
    query: `# What you and those you follow wrote or
# reposted, newest first.
query HomeTimeline($first: Int = 20, $after: String) {
  homeTimeline(first: $first, after: $after) {
    edges {
      cursor
      node {
        ... on Post {
          id
          text
          createdAt
          author { login name }
          likeCount
          viewerHasLiked
        }
        ... on Repost {
          original { id text author { login } }
        }
      }
      repostedBy(first: 3) {
        user { login }
        repostedAt
      }
      repostedByCount
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: { first: 20 },
  },
  {
    query: `# @login mentions a member, and #tag lists the
# post under a hashtag.
mutation Post($input: PostInput!) {
  post(input: $input) {
    status {
      id
      text
      hashtags
      mentions { login }
      createdAt
    }
    ${USER_ERRORS}
  }
}
`,
    variables: { input: { text: "First light on the lake #morning" } },
  },
  {
    query: `# What everybody can read.
query PublicTimeline {
  publicTimeline(first: 10) {
    nodes {
      ... on Post {
        id
        text
        author { id login }
        likeCount
      }
    }
  }
}
`,
  },
  {
    query: `# Run PublicTimeline first: this likes the first
# post of its answer. Liking twice changes nothing.
mutation Like($input: PostIdInput!) {
  like(input: $input) {
    post { id text likeCount viewerHasLiked }
    ${USER_ERRORS}
  }
}
`,
    variables: { input: { postId: "<PublicTimeline.publicTimeline.nodes.0.id>" } },
  },
  {
    query: `# Takes back what Like did.
mutation Unlike($input: PostIdInput!) {
  unlike(input: $input) {
    post { id likeCount viewerHasLiked }
    ${USER_ERRORS}
  }
}
`,
    variables: { input: { postId: "<Like.like.post.id>" } },
  },
  {
    query: `# Members whose login or name begins with this.
query FindMember($prefix: String!) {
  searchUsers(prefix: $prefix, first: 5) {
    nodes {
      id
      login
      name
      followerCount
      viewerIsFollowing
    }
  }
}
`,
    variables: { prefix: "hana" },
  },
  {
    query: `# Run FindMember first: this follows the first
# member of its answer.
mutation Follow($input: UsersInput!) {
  follow(input: $input) {
    users {
      login
      followerCount
      viewerIsFollowing
      isMutual
    }
    ${USER_ERRORS}
  }
}
`,
    variables: { input: { userIds: ["<FindMember.searchUsers.nodes.0.id>"] } },
  },
  {
    query: `# The home timeline, live: newest event first.
# Run this, then post in another window as
# yourself or as somebody you follow.
subscription LiveHome {
  homeTimeline {
    ... on StreamEvent {
      __typename
      cursor
      at
    }
    ... on TimelineEntryPut {
      edge {
        node {
          ... on Post {
            id
            text
            author { login }
          }
        }
        repostedBy { user { login } }
      }
    }
    ... on TimelineEntryRemoved {
      nodeId
    }
  }
}
`,
  },
  {
    query: `# Become a member: edit the variables below.
# The page keeps the tokens of the answer.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    ${SESSION}
  }
}
`,
    variables: {
      input: { login: "alice", name: "Alice", email: "alice@example.org", password: "a long phrase of your own" },
    },
  },
];
