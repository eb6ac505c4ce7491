// The default tabs of a new visitor. With them one can sign up, follow a member and watch the home timeline live.

export const EXAMPLES = [
  {
    query: `# Become a member: edit the variables below.
# The page takes the token over from the answer.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    accessToken
    refreshToken
    expiresAt
    viewer { user { id login name } }
    userErrors { code message field }
  }
}

# Later, or in another browser:
mutation LogIn {
  logIn(
    input: {
      identifier: "alice"
      password: "a long phrase of your own"
    }
  ) {
    accessToken
    refreshToken
    expiresAt
    userErrors { code message field }
  }
}
`,
    variables: {
      input: { login: "alice", name: "Alice", email: "alice@example.org", password: "a long phrase of your own" },
    },
  },
  {
    query: `# @login mentions a member, #tag files the post.
mutation Post($input: PostInput!) {
  post(input: $input) {
    status {
      id
      text
      hashtags
      mentions { login }
      createdAt
    }
    userErrors { code message field }
  }
}

# What everybody can read:
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
    variables: { input: { text: "First light on the lake #morning" } },
  },
  {
    query: `# Put the id from FindMember into the variables.
mutation Follow($input: UsersInput!) {
  follow(input: $input) {
    users {
      login
      followerCount
      viewerIsFollowing
      isMutual
    }
    userErrors { code message field }
  }
}

query FindMember {
  user(login: "alice") {
    id
    login
    name
    followerCount
  }
}
`,
    variables: { input: { userIds: ["the id of a member"] } },
  },
  {
    query: `# What you and those you follow wrote or
# passed on, newest first.
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
    query: `# Put the id of a post into the variables.
# Liking twice changes nothing.
mutation Like($input: PostIdInput!) {
  like(input: $input) {
    post { id text likeCount viewerHasLiked }
    userErrors { code message field }
  }
}

mutation Unlike($input: PostIdInput!) {
  unlike(input: $input) {
    post { id likeCount viewerHasLiked }
    userErrors { code message field }
  }
}
`,
    variables: { input: { postId: "the id of a post" } },
  },
  {
    query: `# The home timeline, live. Run this, then post in
# another window as somebody you follow.
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
];
