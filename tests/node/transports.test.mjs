// graphql-ws and graphql-sse as clients of their own: each takes every step over its one transport.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as sse from "graphql-sse";
import * as ws from "graphql-ws";
import WebSocket from "ws";

import * as steps from "./clients.mjs";
import { ENDPOINT, PATIENCE, cable } from "./perch.mjs";
import { listen } from "./resume.js";

const CLIENTS = {
  "graphql-ws": (session, url) =>
    ws.createClient({
      url: url.replace(/^http/, "ws"),
      webSocketImpl: WebSocket,
      connectionParams: () => session.headers(),
    }),
  "graphql-sse": (session, url) => sse.createClient({ url, headers: () => session.headers() }),
};

/** Run a query or mutation and return its only field. */
async function run(client, query, variables = {}) {
  for await (const { data, errors } of client.iterate({ query, variables })) {
    if (errors) throw Object.assign(new Error(JSON.stringify(errors)), { errors });
    return Object.values(data)[0];
  }
  throw new Error("completed without a result");
}

for (const [name, create] of Object.entries(CLIENTS)) {
  const loggedIn = async (t, url = ENDPOINT.href) => {
    const session = await steps.session();
    const client = create(session, url);
    t.after(() => client.dispose());
    session.keep(await run(client, steps.LOG_IN, { input: session.credentials }));
    return { client, session };
  };

  describe(name, { timeout: 3 * PATIENCE }, () => {
    test("logs in, refreshes the session and logs out", async (t) => {
      const { client, session } = await loggedIn(t);
      const { refreshToken } = session;
      session.accessToken = undefined;
      session.keep(await run(client, steps.REFRESH, { input: { refreshToken } }));
      assert.equal((await run(client, steps.VIEWER)).user.login, session.member.login);
      await run(client, steps.LOG_OUT).catch((closed) => assert.equal(closed.code, 4403)); // or the answer comes first
      session.accessToken = undefined;
      assert.equal(await run(client, steps.VIEWER), null);
    });

    test("reads two pages, and likes a post", async (t) => {
      const { client, session } = await loggedIn(t);
      const first = await run(client, steps.PAGE);
      const second = await run(client, steps.PAGE, { after: first.pageInfo.endCursor });
      const ids = [...first.edges, ...second.edges].map(({ node }) => node.id);
      assert.equal(new Set(ids).size, 10);

      const id = await steps.written(session);
      const { post } = await run(client, steps.LIKE, { input: { postId: id } });
      assert.deepEqual(post, { id, likeCount: 1, viewerHasLiked: true });
    });

    test("sees a post live, and on resuming the one it missed", async (t) => {
      const line = await cable(t);
      const { client, session } = await loggedIn(t, line.url);
      const received = steps.inbox();
      const ended = [];
      const next = ({ data }) => received.add(data.homeTimeline);
      const sink = { next, error: (why) => ended.push(why), complete: () => {} };
      t.after(listen(client, { query: steps.LIVE }, sink));
      await steps.seeLiveAndResume(session, received, line);
      assert.deepEqual(ended, []);
    });

    test("sends the id of a document that the server has seen", async (t) => {
      const { client } = await loggedIn(t);
      const query = `query Seen${name.replace("-", "")} { viewer { user { login } } }`;
      const persistedQuery = { version: 1, sha256Hash: await steps.digest(query) };
      const ask = async (request) => {
        for await (const result of client.iterate(request)) return result;
      };
      const { data } = await ask({ query, extensions: { persistedQuery } });
      assert.deepEqual((await ask({ query: "", extensions: { persistedQuery } })).data, data);
      assert.deepEqual((await ask({ query: "", documentId: `sha256:${persistedQuery.sha256Hash}` })).data, data);
    });
  });
}
