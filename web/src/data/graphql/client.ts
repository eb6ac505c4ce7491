import { possibleTypes, withoutId } from "virtual:schema-facts";
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { type KeyingConfig, offlineExchange } from "@urql/exchange-graphcache";
import { forwardTo, openSocket } from "./live";
import { optimistic } from "./optimistic";
import { openStorage } from "./storage";
import { send } from "./transport";
import { updates } from "./updates";

const keys: KeyingConfig = {
  ...Object.fromEntries(withoutId.map((type) => [type, () => null])),
  Hashtag: (data) => `#${data.name}`, // never the id of something else
};

/** A client for one member, or for nobody, with what they have read. */
export interface MemberClient {
  client: Client;
  /** Closes its socket, and deletes what a member has read here. */
  end: () => void;
}

/** Makes the client of a member. What they read stays in the browser until they log out. */
export function openClient(userId: string | null): MemberClient {
  const socket = openSocket();
  const storage = openStorage(`perch-${userId ?? "anonymous"}`);
  const cache = offlineExchange({
    storage,
    possibleTypes,
    globalIDs: true,
    keys,
    optimistic,
    updates,
  });
  const client = new Client({
    url: "/graphql",
    preferGetMethod: false,
    fetch: send,
    exchanges: [cache, fetchExchange, subscriptionExchange({ forwardSubscription: forwardTo(socket) })],
  });
  return {
    client,
    end: () => {
      socket.dispose();
      if (userId !== null) void storage.end();
    },
  };
}
