// Read by relay-compiler only: an app has these beside its components.

import { graphql } from "relay-runtime";

graphql`
  mutation operationsLogInMutation($input: LogInInput!) {
    logIn(input: $input) { accessToken refreshToken viewer { id user { id login } } userErrors { code message } }
  }
`;
graphql`
  mutation operationsRefreshMutation($input: RefreshSessionInput!) {
    refreshSession(input: $input) { accessToken refreshToken viewer { id } userErrors { code message } }
  }
`;
graphql`
  mutation operationsLogOutMutation { logOut { userErrors { code message } } }
`;
graphql`
  query operationsViewerQuery { viewer { id user { id login } } }
`;
graphql`
  query operationsHomeQuery { ...operations_home }
`;
graphql`
  fragment operations_home on Query
  @refetchable(queryName: "operationsMoreQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 5 }, cursor: { type: "String" }) {
    homeTimeline(first: $count, after: $cursor) @connection(key: "Home_homeTimeline") {
      __id
      edges { cursor node { ... on Node { id } ... on Post { text likeCount viewerHasLiked author { login } } } }
    }
  }
`;
graphql`
  mutation operationsPostMutation($input: PostInput!, $connections: [ID!]!) {
    post(input: $input) {
      status @prependNode(connections: $connections, edgeTypeName: "TimelineEdge") {
        id text likeCount viewerHasLiked author { login }
      }
      userErrors { code message }
    }
  }
`;
graphql`
  mutation operationsDeleteMutation($input: PostIdInput!, $connections: [ID!]!) {
    deletePost(input: $input) {
      deletedPostId @deleteEdge(connections: $connections)
      userErrors { code message }
    }
  }
`;
graphql`
  mutation operationsLikeMutation($input: PostIdInput!) {
    like(input: $input) { post { id likeCount viewerHasLiked } userErrors { code message } }
  }
`;
graphql`
  subscription operationsLiveSubscription($after: String, $connections: [ID!]!) {
    homeTimeline(after: $after) {
      ... on StreamEvent { cursor }
      ... on TimelineEntryPut {
        edge @prependEdge(connections: $connections) {
          cursor
          node { ... on Node { id } ... on Post { text likeCount viewerHasLiked author { id login } } }
        }
      }
      ... on TimelineEntryRemoved { nodeId @deleteEdge(connections: $connections) }
    }
  }
`;
