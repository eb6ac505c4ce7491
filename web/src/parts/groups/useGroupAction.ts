import type { CombinedError } from "@urql/core";
import { useState } from "react";
import { useClient } from "urql";
import type { UserError } from "../../data/graphql/errors";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { groupFragment } from "./fragments";

const documents = {
  join: graphql(
    `mutation JoinGroup($id: ID!) { outcome: joinGroup(input: { groupId: $id }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  leave: graphql(
    `mutation LeaveGroup($id: ID!) { outcome: leaveGroup(input: { groupId: $id }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  invite: graphql(
    `mutation Invite($id: ID!, $userIds: [ID!]!) { outcome: inviteToGroup(input: { groupId: $id, userIds: $userIds }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  approve: graphql(
    `mutation LetIn($id: ID!, $userIds: [ID!]!) { outcome: approveGroupMembers(input: { groupId: $id, userIds: $userIds }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  reject: graphql(
    `mutation TurnAway($id: ID!, $userIds: [ID!]!) { outcome: rejectGroupMembers(input: { groupId: $id, userIds: $userIds }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  remove: graphql(
    `mutation RemoveMembers($id: ID!, $userIds: [ID!]!) { outcome: removeGroupMembers(input: { groupId: $id, userIds: $userIds }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  setRole: graphql(
    `mutation SetGroupRole($id: ID!, $userId: ID!, $role: GroupRole!) { outcome: setGroupRole(input: { groupId: $id, userId: $userId, role: $role }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  hide: graphql(
    `mutation HideGroup($id: ID!) { outcome: hideGroup(input: { groupId: $id }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
  unhide: graphql(
    `mutation UnhideGroup($id: ID!) { outcome: unhideGroup(input: { groupId: $id }) { group { ...GroupHead } userErrors { code message field } } }`,
    [groupFragment],
  ),
};

export type GroupAction = keyof typeof documents;
type Outcome = ResultOf<(typeof documents)["join"]>;

interface Details {
  userId?: string;
  userIds?: string[];
  role?: "MEMBER" | "MODERATOR" | "OWNER";
}

/** Returns a function that does something in a group and says whether it was done, and why the last attempt was not. */
export function useGroupAction(): [
  (action: GroupAction, id: string, details?: Details) => Promise<boolean>,
  UserError | CombinedError | undefined,
] {
  const client = useClient();
  const [problem, setProblem] = useState<UserError | CombinedError>();
  const act = async (action: GroupAction, id: string, details: Details = {}) => {
    const { data, error } = await client.mutation<Outcome, { id: string }>(documents[action] as never, {
      id,
      ...details,
    });
    const failed = error ?? data?.outcome?.userErrors[0];
    setProblem(failed);
    return failed === undefined;
  };
  return [act, problem];
}
