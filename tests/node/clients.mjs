// The steps that every client takes: their documents, the member who takes them, and what their tests wait for.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { actUntil, post, reader } from "./perch.mjs";

export const SDL = readFileSync(process.env.PERCH_SCHEMA, "utf8");

export const LOG_IN = `mutation LogIn($input: LogInInput!) {
  logIn(input: $input) { accessToken refreshToken viewer { id user { id login } } userErrors { code message } }
}`;
export const REFRESH = `mutation Refresh($input: RefreshSessionInput!) {
  refreshSession(input: $input) { accessToken refreshToken viewer { id } userErrors { code message } }
}`;
export const LOG_OUT = `mutation LogOut { logOut { userErrors { code message } } }`;
export const VIEWER = `query Who { viewer { id user { id login } } }`;
export const PAGE = `query Page($after: String) {
  publicTimeline(first: 5, after: $after) {
    edges { cursor node { ... on Node { id } ... on Post { text likeCount viewerHasLiked author { id login } } } }
    pageInfo { hasNextPage endCursor }
  }
}`;
export const POST = `query OnePost($id: ID!) { node(id: $id) { ... on Post { id text likeCount viewerHasLiked } } }`;
export const LIKE = `mutation Like($input: PostIdInput!) {
  like(input: $input) { post { id likeCount viewerHasLiked } userErrors { code message } }
}`;
export const LIVE = `subscription Live($after: String) {
  homeTimeline(after: $after) {
    ... on StreamEvent { cursor }
    ... on TimelineEntryPut { edge { cursor node { ... on Node { id } ... on Post { text author { id login } } } } }
    ... on TimelineEntryRemoved { nodeId }
  }
}`;

/** A member with an author to follow, and the tokens of the member's session as a client keeps them. */
export async function session() {
  const { follower, author } = await reader();
  return {
    member: follower,
    author,
    credentials: { identifier: follower.login, password: follower.password },
    accessToken: undefined,
    refreshToken: undefined,
    keep(payload) {
      assert.deepEqual(payload.userErrors, []);
      this.accessToken = payload.accessToken;
      this.refreshToken = payload.refreshToken;
      return payload;
    },
    headers() {
      return this.accessToken ? { Authorization: `Bearer ${this.accessToken}` } : {};
    },
  };
}

/** Two promises of a gate: `passed` resolves once `open` is called. */
export function gate() {
  let open;
  const passed = new Promise((resolve) => (open = resolve));
  return { passed, open };
}

/** A fetch whose answers to one operation wait behind a gate. */
export function fetchBehind(gate, operationName) {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (options.body?.includes(`"operationName":"${operationName}"`)) await gate.passed;
    return response;
  };
}

/** Events that a client has received, and the first one that fits, now or later. */
export function inbox() {
  const events = [];
  const waiting = new Set();
  return {
    events,
    add(event) {
      events.push(event);
      for (const look of waiting) look(event);
    },
    where(fits) {
      const found = events.find(fits);
      if (found) return Promise.resolve(found);
      return new Promise((resolve) => {
        const look = (event) => fits(event) && (waiting.delete(look), resolve(event));
        waiting.add(look);
      });
    },
  };
}

export const shows = (id) => (event) => event.edge?.node.id === id;

/** See a post live; then lose the connection, miss a post, and see it once the connection is back. */
export async function seeLiveAndResume({ author }, received, line) {
  const posted = new Set();
  const first = await actUntil(
    received.where((event) => posted.has(event.edge?.node.id)),
    async () => posted.add(await post(author, `live ${posted.size}`)),
  );
  assert.equal(first.edge.node.author.login, author.login);
  await received.where(shows([...posted].at(-1))); // so that `after` is the newest cursor
  line.cut();
  const missed = await post(author, "missed while the connection was cut");
  line.mend();
  const resumed = await actUntil(received.where(shows(missed)), async () => {});
  assert.equal(resumed.edge.node.text, "missed while the connection was cut");
  const puts = received.events.map((event) => event.edge?.node.id).filter(Boolean);
  assert.deepEqual(puts, [...new Set(puts)], "nothing comes twice");
}

/** Write a post that nobody has liked, and return its id. */
export async function written({ author }) {
  return post(author, `like me ${Math.random()}`);
}

/** Return the SHA-256 of a document. */
export function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}
