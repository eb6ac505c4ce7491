import type { OperationResult } from "@urql/core";
import { useClient } from "urql";
import { graphql } from "../../data/graphql/tada";

export const relationFragment = graphql(`
  fragment Relation on User {
    id
    followerCount
    viewerIsFollowing
    viewerHasRequestedFollow
    isFollowingViewer
    viewerHasBlocked
    viewerHasMuted
  }
`);

const documents = {
  follow: graphql(
    `mutation Follow($ids: [ID!]!) { follow(input: { userIds: $ids }) { users { ...Relation } viewer { id user { id followingCount } } userErrors { code message field } } }`,
    [relationFragment],
  ),
  unfollow: graphql(
    `mutation Unfollow($ids: [ID!]!) { unfollow(input: { userIds: $ids }) { users { ...Relation } viewer { id user { id followingCount } } userErrors { code message field } } }`,
    [relationFragment],
  ),
  block: graphql(
    `mutation Block($ids: [ID!]!) { block(input: { userIds: $ids }) { users { ...Relation } userErrors { code message field } } }`,
    [relationFragment],
  ),
  unblock: graphql(
    `mutation Unblock($ids: [ID!]!) { unblock(input: { userIds: $ids }) { users { ...Relation } userErrors { code message field } } }`,
    [relationFragment],
  ),
  mute: graphql(
    `mutation Mute($ids: [ID!]!) { mute(input: { userIds: $ids }) { users { ...Relation } userErrors { code message field } } }`,
    [relationFragment],
  ),
  unmute: graphql(
    `mutation Unmute($ids: [ID!]!) { unmute(input: { userIds: $ids }) { users { ...Relation } userErrors { code message field } } }`,
    [relationFragment],
  ),
  approveFollowRequests: graphql(
    `mutation Approve($ids: [ID!]!) { approveFollowRequests(input: { userIds: $ids }) { users { ...Relation } viewer { id user { id followerCount } } userErrors { code message field } } }`,
    [relationFragment],
  ),
  rejectFollowRequests: graphql(
    `mutation Reject($ids: [ID!]!) { rejectFollowRequests(input: { userIds: $ids }) { users { ...Relation } userErrors { code message field } } }`,
    [relationFragment],
  ),
};

export type MemberAction = keyof typeof documents;

/** Returns a function that changes what the viewer and a member are to each other. */
export function useMemberAction(): (action: MemberAction, id: string) => Promise<OperationResult> {
  const client = useClient();
  return async (action, id) => client.mutation<unknown, { ids: string[] }>(documents[action], { ids: [id] });
}
