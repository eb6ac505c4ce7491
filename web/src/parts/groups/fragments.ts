import { type FragmentOf, graphql } from "../../data/graphql/tada";

export const groupFragment = graphql(`
  fragment GroupHead on Group {
    __typename
    id
    name
    kind
    isHidden
    description
    memberCount
    viewerRole
    viewerHasRequestedToJoin
  }
`);

export type GroupHead = FragmentOf<typeof groupFragment>;

/** Returns whether the viewer looks after a group. */
export function moderates({ viewerRole }: Pick<GroupHead, "viewerRole">): boolean {
  return viewerRole === "MODERATOR" || viewerRole === "OWNER";
}

/** Returns whether the viewer may post in a group. */
export function mayPost(group: GroupHead): boolean {
  return moderates(group) || (group.viewerRole === "MEMBER" && group.kind !== "ANNOUNCEMENT");
}
