import type { Client } from "@urql/core";
import { useSyncExternalStore } from "react";
import { useClient } from "urql";
import { Feed, type FeedView, type Source } from "./feed";

// Lists stay open while the tab is: the back button finds them as they were left, with the place on the page.
const feeds = new WeakMap<Client, Map<string, Feed>>();

/** Returns a list, with how it is shown now. */
export function useFeed<Data>(
  source: Source<Data>,
  variables: Record<string, unknown> = {},
): [FeedView, Feed<Data>] {
  const client = useClient();
  const feed = feedOf(client, source, variables);
  return [useSyncExternalStore(feed.subscribe, feed.snapshot), feed];
}

function feedOf<Data>(client: Client, source: Source<Data>, variables: Record<string, unknown>): Feed<Data> {
  let open = feeds.get(client);
  if (!open) {
    open = new Map();
    feeds.set(client, open);
  }
  const key = `${source.name} ${JSON.stringify(variables)}`;
  let feed = open.get(key);
  if (!feed) {
    feed = new Feed(client, source as Source, variables);
    open.set(key, feed);
  }
  return feed as Feed<Data>;
}
