import { graphql, type ResultOf } from "../../data/graphql/tada";
import { authorFragment, postFragment } from "../post/fragments";
import type { Feed } from "./feed";

/** What a live timeline tells of its entries. */
export const eventFragment = graphql(
  `
  fragment FeedEvent on HomeTimelineEvent {
    __typename
    ... on StreamEvent { cursor at }
    ... on TimelineEntryPut {
      edge {
        cursor
        node { __typename ... on Post { ...Card } ... on Promotion { id } }
        repostedBy(first: 3) { user { ...Author } }
        repostedByCount
      }
    }
    ... on TimelineEntryRemoved { nodeId }
  }
`,
  [postFragment, authorFragment],
);

/** Takes an event into a list. A new post waits above it, but the member's own is shown at once. */
export function takeEvent<Data>(
  event: ResultOf<typeof eventFragment>,
  feed: Feed<Data>,
  userId?: string,
): void {
  if (event.__typename === "TimelineEntryRemoved") {
    feed.drop(event.nodeId);
  } else if (event.__typename === "TimelineEntryPut") {
    const { node } = event.edge;
    feed.put(event.edge as Parameters<typeof feed.put>[0]);
    // One's own post is what one has just done: it does not wait.
    if ("author" in node && node.author.id === userId) feed.showNewer();
  } else {
    feed.reset(); // events were lost
  }
}
