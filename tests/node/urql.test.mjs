// urql with its normalised cache (graphcache), relayPagination, and subscriptions as event streams.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { buildSchema, introspectionFromSchema } from "graphql";
import { createClient } from "graphql-sse";

import * as steps from "./clients.mjs";
import { ENDPOINT, PATIENCE, cable, within } from "./perch.mjs";
import { typesWithoutId } from "./schema.js";
import { urql } from "./urql.js";

const schema = introspectionFromSchema(buildSchema(steps.SDL));
const LIKED = { __typename: "Status", likeCount: 1, viewerHasLiked: true };
const optimistic = {
  like: ({ input }) => ({ __typename: "PostIdPayload", post: { ...LIKED, id: input.postId }, userErrors: [] }),
};

function clientOf(t, session, { line, fetch = globalThis.fetch } = {}) {
  const headers = () => session.headers();
  const streams = createClient({ url: line?.url ?? ENDPOINT.href, headers });
  t.after(() => streams.dispose());
  const without = typesWithoutId(steps.SDL);
  return urql({ url: ENDPOINT.href, streams, headers, schema, typesWithoutId: without, optimistic, fetch });
}

async function run(client, document, variables) {
  const { data, error } = await client.mutation(document, variables).toPromise();
  assert.equal(error, undefined, String(error));
  return Object.values(data)[0];
}

async function loggedIn(t, options) {
  const session = await steps.session();
  const client = clientOf(t, session, options);
  session.keep(await run(client, steps.LOG_IN, { input: session.credentials }));
  return { client, session };
}

/** Collect what a query shows as the cache changes. */
function watch(t, client, document, variables) {
  const seen = steps.inbox();
  const { unsubscribe } = client.query(document, variables).subscribe(({ data }) => data && seen.add(data));
  t.after(unsubscribe);
  return seen;
}

describe("urql", { timeout: 3 * PATIENCE }, () => {
  test("logs in, refreshes the session and logs out", async (t) => {
    const { client, session } = await loggedIn(t);
    const ask = () => client.query(steps.VIEWER, {}, { requestPolicy: "network-only" }).toPromise();
    const { refreshToken } = session;
    session.accessToken = "not.a.token";
    assert.equal((await ask()).error.graphQLErrors[0].extensions.code, "UNAUTHENTICATED");
    session.accessToken = undefined;
    session.keep(await run(client, steps.REFRESH, { input: { refreshToken } }));
    assert.equal((await ask()).data.viewer.user.login, session.member.login);

    await run(client, steps.LOG_OUT, {});
    assert.equal((await ask()).error.graphQLErrors[0].extensions.code, "UNAUTHENTICATED");
  });

  test("reads two pages into one list, without a warning", async (t) => {
    const warned = t.mock.method(console, "warn", () => {});
    const { client } = await loggedIn(t);
    const first = await client.query(steps.PAGE, {}).toPromise();
    const { endCursor } = first.data.publicTimeline.pageInfo;
    const { data } = await client.query(steps.PAGE, { after: endCursor }).toPromise();
    const { edges } = data.publicTimeline;
    assert.equal(new Set(edges.map(({ node }) => node.id)).size, 10);
    assert.ok(edges.every(({ node }) => node.author.login), "fragments on interfaces match");
    assert.deepEqual(warned.mock.calls.map(({ arguments: [text] }) => text), []);
  });

  test("shows a like before the answer, and keeps it afterwards", async (t) => {
    const answer = steps.gate();
    const { client, session } = await loggedIn(t, { fetch: steps.fetchBehind(answer, "Like") });
    const id = await steps.written(session);
    const seen = watch(t, client, steps.POST, { id });
    assert.equal((await within(seen.where(() => true), "the post")).node.viewerHasLiked, false);

    const liked = run(client, steps.LIKE, { input: { postId: id } });
    await within(seen.where(({ node }) => node.viewerHasLiked), "the optimistic like");
    answer.open();
    assert.deepEqual((await liked).userErrors, []);
    const { data } = await client.query(steps.POST, { id }, { requestPolicy: "cache-only" }).toPromise();
    assert.deepEqual([data.node.viewerHasLiked, data.node.likeCount], [true, 1]);
    assert.ok(seen.events.slice(1).every(({ node }) => node.likeCount === 1), "it never flickers");
  });

  test("sees a post live, and on resuming the one it missed", async (t) => {
    const line = await cable(t);
    const { client, session } = await loggedIn(t, { line });
    const received = steps.inbox();
    const failed = [];
    const { unsubscribe } = client.subscription(steps.LIVE, {}).subscribe(({ data, error }) => {
      if (error) failed.push(error);
      else received.add(data.homeTimeline);
    });
    t.after(unsubscribe);
    await steps.seeLiveAndResume(session, received, line);
    assert.deepEqual(failed, []);
  });
});
