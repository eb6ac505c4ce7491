import type { SubscriptionForwarder } from "@urql/core";
import { type Client, createClient } from "graphql-ws";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { freshToken, replaceToken } from "../session/refresh";
import { currentSession } from "../session/session";

const SESSION_ENDED = 4403;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const KEEP_ALIVE_MS = 20_000;
const SETTLE_MS = 500; // within which the server has begun the subscriptions of a new socket

let connected = false;
let connectedAt = 0; // ms since the page was opened
const listeners = new Set<() => void>();

/** Opens the one websocket of this tab when the first subscription needs it, and again whenever it is lost. */
export function openSocket(): Client {
  const { protocol, host } = location;
  return createClient({
    url: `${protocol === "https:" ? "wss" : "ws"}://${host}/graphql`,
    connectionParams: async () => {
      const token = await freshToken();
      return token === null ? {} : { Authorization: `Bearer ${token}` };
    },
    lazyCloseTimeout: 2_000, // a screen that goes and one that comes share the socket
    keepAlive: KEEP_ALIVE_MS,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: waitBeforeRetry,
    shouldRetry: (event) =>
      !(event instanceof CloseEvent && event.code === SESSION_ENDED && !currentSession()),
    on: {
      connected: () => tell(true),
      closed: (event) => {
        tell(false);
        const token = currentSession()?.accessToken;
        // The server refuses the token. Either a refresh helps, or the session has ended.
        if (event instanceof CloseEvent && event.code === SESSION_ENDED && token) {
          replaceToken(token).catch(() => {});
        }
      },
    },
  });
}

/** Runs urql's subscriptions on the socket. After a lost connection, each goes on after its last event. */
export function forwardTo(socket: Client): SubscriptionForwarder {
  return (request) => {
    const payload = { query: request.query ?? "", variables: { ...request.variables } };
    return {
      subscribe: (sink) => ({
        unsubscribe: socket.subscribe<Record<string, { cursor?: string } | null>>(payload, {
          next: (result) => {
            const cursor = Object.values(result.data ?? {})[0]?.cursor;
            // graphql-ws sends this very object again when it has connected anew.
            if (cursor) payload.variables.after = cursor;
            sink.next(result as Parameters<typeof sink.next>[0]);
          },
          error: (error) => sink.error(error),
          complete: () => sink.complete(),
        }),
      }),
    };
  };
}

/** Says whether the socket is open now. */
export function useLive(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connected,
  );
}

/**
 * Calls a function after the socket has opened: what happened before may have been missed. It waits for the
 * subscriptions to begin, because nothing says when they have. A screen whose subscription is shared with others has
 * missed nothing if that has begun already.
 */
export function useOnLive(catchUp: () => void, isShared = false): void {
  const isLive = useLive();
  const hasBegun = useRef(isShared && isLive && performance.now() - connectedAt > SETTLE_MS);
  const latest = useRef(catchUp);
  useEffect(() => {
    latest.current = catchUp;
  });
  useEffect(() => {
    const isComplete = hasBegun.current;
    hasBegun.current = false;
    if (!isLive || isComplete) return;
    const timer = setTimeout(() => latest.current(), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
}

function tell(now: boolean): void {
  connected = now;
  if (now) connectedAt = performance.now();
  for (const listener of listeners) listener();
}

async function waitBeforeRetry(retries: number): Promise<void> {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** retries) * (0.5 + Math.random() / 2);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, wait);
    addEventListener("online", done, { once: true }); // the network is back: do not wait any longer
    function done() {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    }
  });
}
