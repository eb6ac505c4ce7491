// Apollo Client with its InMemoryCache, relayStylePagination, GraphQLWsLink and persisted queries.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CombinedGraphQLErrors, gql } from "@apollo/client";
import { createClient } from "graphql-ws";
import WebSocket from "ws";

import { apollo } from "./apollo.js";
import * as steps from "./clients.mjs";
import { ENDPOINT, PATIENCE, cable, within } from "./perch.mjs";
import { possibleTypes } from "./schema.js";

globalThis.WebSocket ??= WebSocket; // which the link looks up when a subscription fails

function clientOf(t, session, { line, fetch = globalThis.fetch } = {}) {
  const headers = () => session.headers();
  const url = (line?.url ?? ENDPOINT.href).replace(/^http/, "ws");
  const socket = createClient({ url, connectionParams: headers, webSocketImpl: WebSocket });
  const types = possibleTypes(steps.SDL);
  const client = apollo({ url: ENDPOINT.href, socket, headers, possibleTypes: types, sha256: steps.digest, fetch });
  t.after(() => socket.dispose());
  t.after(() => client.stop());
  return client;
}

const run = async (client, document, variables) => {
  const { data } = await client.mutate({ mutation: gql(document), variables });
  return Object.values(data)[0];
};

async function loggedIn(t, options) {
  const session = await steps.session();
  const client = clientOf(t, session, options);
  session.keep(await run(client, steps.LOG_IN, { input: session.credentials }));
  return { client, session };
}

describe("Apollo Client", { timeout: 3 * PATIENCE }, () => {
  test("logs in, refreshes the session and logs out", async (t) => {
    const { client, session } = await loggedIn(t);
    const { refreshToken } = session;
    session.accessToken = "not.a.token";
    await assert.rejects(client.query({ query: gql(steps.VIEWER) }), (error) => {
      assert.ok(CombinedGraphQLErrors.is(error), String(error));
      return error.errors[0].extensions.code === "UNAUTHENTICATED";
    });
    session.accessToken = undefined;
    session.keep(await run(client, steps.REFRESH, { input: { refreshToken } }));
    const { data } = await client.query({ query: gql(steps.VIEWER) });
    assert.equal(data.viewer.user.login, session.member.login);

    await run(client, steps.LOG_OUT);
    const after = client.query({ query: gql(steps.VIEWER), fetchPolicy: "network-only" });
    await assert.rejects(after, (error) => error.errors[0].extensions.code === "UNAUTHENTICATED");
  });

  test("keeps the viewer under an id, so that two documents share it", async (t) => {
    const { client } = await loggedIn(t);
    await client.query({ query: gql(steps.VIEWER) });
    await client.query({ query: gql("query Mine { viewer { id role } }") });
    const { data } = await client.query({ query: gql("{ viewer { id role user { id login } } }"), fetchPolicy: "cache-only" });
    assert.equal(data.viewer.role, "MEMBER");
    const viewers = Object.keys(client.cache.extract()).filter((key) => key.startsWith("Viewer:"));
    assert.equal(viewers.length, 1);
  });

  test("reads two pages into one list", async (t) => {
    const { client } = await loggedIn(t);
    const pages = client.watchQuery({ query: gql(steps.PAGE) });
    const read = steps.inbox();
    const subscription = pages.subscribe(({ data }) => data?.publicTimeline && read.add(data.publicTimeline));
    t.after(() => subscription.unsubscribe());
    const first = await within(read.where(({ edges }) => edges.length === 5), "the first page");
    await pages.fetchMore({ variables: { after: first.pageInfo.endCursor } });
    const both = await within(read.where(({ edges }) => edges.length === 10), "both pages");
    const ids = both.edges.map(({ node }) => node.id);
    assert.equal(new Set(ids).size, 10);
    assert.ok(both.edges.every(({ node }) => node.author.login), "fragments on interfaces match");
  });

  test("shows a like before the answer, and keeps it afterwards", async (t) => {
    const answer = steps.gate();
    const { client, session } = await loggedIn(t, { fetch: steps.fetchBehind(answer, "Like") });
    const id = await steps.written(session);
    const seen = steps.inbox();
    const watched = client.watchQuery({ query: gql(steps.POST), variables: { id } });
    const subscription = watched.subscribe(({ data }) => data?.node && seen.add(data.node));
    t.after(() => subscription.unsubscribe());
    assert.equal((await within(seen.where(() => true), "the post")).viewerHasLiked, false);

    const optimistic = { __typename: "Status", id, likeCount: 1, viewerHasLiked: true };
    const liked = client.mutate({
      mutation: gql(steps.LIKE),
      variables: { input: { postId: id } },
      optimisticResponse: { like: { __typename: "PostIdPayload", post: optimistic, userErrors: [] } },
    });
    await within(seen.where(({ viewerHasLiked }) => viewerHasLiked), "the optimistic like");
    answer.open();
    assert.deepEqual((await liked).data.like.userErrors, []);
    const { node } = client.readQuery({ query: gql(steps.POST), variables: { id } });
    assert.deepEqual([node.viewerHasLiked, node.likeCount], [true, 1]);
    assert.ok(seen.events.slice(1).every(({ likeCount }) => likeCount === 1), "it never flickers");
  });

  test("sees a post live, and on resuming the one it missed", async (t) => {
    const line = await cable(t);
    const { client, session } = await loggedIn(t, { line });
    const received = steps.inbox();
    const failed = [];
    const live = client.subscribe({ query: gql(steps.LIVE), variables: {} }).subscribe({
      next: ({ data }) => data && received.add(data.homeTimeline),
      error: (error) => failed.push(error),
    });
    t.after(() => live.unsubscribe());
    await steps.seeLiveAndResume(session, received, line);
    assert.deepEqual(failed, []);
  });

  test("sends a hash in place of a document that the server has seen", async (t) => {
    const bodies = [];
    const counting = (url, options) => (bodies.push(JSON.parse(options.body)), fetch(url, options));
    const { client } = await loggedIn(t, { fetch: counting });
    const query = gql(`query Unseen${Date.now()} { viewer { id } }`);
    await client.query({ query, fetchPolicy: "network-only" });
    await client.query({ query, fetchPolicy: "network-only" });
    const sent = bodies.filter(({ operationName }) => operationName.startsWith("Unseen"));
    assert.deepEqual(sent.map((body) => "query" in body), [false, true, false]);
  });
});
