import type { OperationResult } from "@urql/core";
import { useClient } from "urql";
import { graphql } from "../../data/graphql/tada";

const documents = {
  like: graphql(
    `mutation Like($id: ID!) { like(input: { postId: $id }) { post { __typename id viewerHasLiked likeCount } userErrors { code message field } } }`,
  ),
  unlike: graphql(
    `mutation Unlike($id: ID!) { unlike(input: { postId: $id }) { post { __typename id viewerHasLiked likeCount } userErrors { code message field } } }`,
  ),
  repost: graphql(
    `mutation PlainRepost($id: ID!) { repost(input: { postId: $id }) { original { __typename id viewerHasReposted repostCount } userErrors { code message field } } }`,
  ),
  unrepost: graphql(
    `mutation Unrepost($id: ID!) { unrepost(input: { postId: $id }) { post { __typename id viewerHasReposted repostCount } userErrors { code message field } } }`,
  ),
  favourite: graphql(
    `mutation Favourite($id: ID!) { favourite(input: { postId: $id }) { post { __typename id viewerHasFavourited } userErrors { code message field } } }`,
  ),
  unfavourite: graphql(
    `mutation Unfavourite($id: ID!) { unfavourite(input: { postId: $id }) { post { __typename id viewerHasFavourited } userErrors { code message field } } }`,
  ),
  pinPost: graphql(
    `mutation PinPost($id: ID!) { pinPost(input: { postId: $id }) { post { __typename id author { id pinnedPost { __typename id } } } userErrors { code message field } } }`,
  ),
  unpinPost: graphql(
    `mutation UnpinPost($id: ID!) { unpinPost(input: { postId: $id }) { post { __typename id author { id pinnedPost { __typename id } } } userErrors { code message field } } }`,
  ),
  hidePost: graphql(
    `mutation HidePost($id: ID!) { hidePost(input: { postId: $id }) { post { __typename id isHidden author { id pinnedPost { __typename id } } } userErrors { code message field } } }`,
  ),
  unhidePost: graphql(
    `mutation UnhidePost($id: ID!) { unhidePost(input: { postId: $id }) { post { __typename id isHidden } userErrors { code message field } } }`,
  ),
  deletePost: graphql(
    `mutation DeletePost($id: ID!) { deletePost(input: { postId: $id }) { deletedPostId author { id postCount } userErrors { code message field } } }`,
  ),
};

export type PostAction = keyof typeof documents;

/** Returns a function that does something to a post. Likes, reposts and favourites show at once, and wait for a lost network. */
export function usePostAction(): (action: PostAction, id: string) => Promise<OperationResult> {
  const client = useClient();
  return async (action, id) => client.mutation<unknown, { id: string }>(documents[action], { id });
}
