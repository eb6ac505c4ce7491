// relay-compiler and relay-runtime: `@connection`, `@refetchable`, `@prependNode`, `@prependEdge` and `@deleteEdge`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import { createClient } from "graphql-ws";
import relay from "relay-runtime";
import WebSocket from "ws";

import * as steps from "./clients.mjs";
import { compileForRelay } from "./compilers.mjs";
import { ENDPOINT, PATIENCE, cable, post, within } from "./perch.mjs";
import { relayEnvironment } from "./relay.js";

const { commitMutation, createOperationDescriptor, fetchQuery, getRequest, getSingularSelector } = relay;

describe("Relay", { timeout: 3 * PATIENCE }, () => {
  let artifact;
  let manifest;

  before(async () => {
    const compiled = await compileForRelay();
    const require = createRequire(import.meta.url);
    artifact = (name) => require(join(compiled.artifacts, `operations${name}.graphql.js`));
    manifest = compiled.manifest;
  });

  function environmentOf(t, session, { line, fetch = globalThis.fetch } = {}) {
    const headers = () => session.headers();
    const url = (line?.url ?? ENDPOINT.href).replace(/^http/, "ws");
    const socket = createClient({ url, connectionParams: headers, webSocketImpl: WebSocket });
    t.after(() => socket.dispose());
    const document = ({ id }) => ({ query: manifest[id] });
    return relayEnvironment({ url: ENDPOINT.href, socket, headers, document, fetch });
  }

  function mutate(environment, name, variables, more = {}) {
    return new Promise((resolve, reject) => {
      const onCompleted = (data, errors) => (errors ? reject(errors) : resolve(Object.values(data)[0]));
      commitMutation(environment, { mutation: artifact(name), variables, onCompleted, onError: reject, ...more });
    });
  }

  const ask = (environment, name, variables = {}) =>
    fetchQuery(environment, artifact(name), variables, { networkCacheConfig: { force: true } }).toPromise();

  async function loggedIn(t, options) {
    const session = await steps.session();
    const environment = environmentOf(t, session, options);
    session.keep(await mutate(environment, "LogInMutation", { input: session.credentials }));
    return { environment, session };
  }

  /** Read the home, and return what a component would show of it, now and after each change. */
  async function home(t, environment) {
    const root = createOperationDescriptor(getRequest(artifact("HomeQuery")), {});
    t.after(environment.retain(root).dispose);
    const response = await ask(environment, "HomeQuery");
    const selector = getSingularSelector(artifact("_home"), response);
    return () => environment.lookup(selector).data.homeTimeline;
  }
  const ids = ({ edges }) => edges.map(({ node }) => node.id);

  test("logs in, refreshes the session and logs out", async (t) => {
    const { environment, session } = await loggedIn(t);
    const { refreshToken } = session;
    session.accessToken = "not.a.token";
    await assert.rejects(ask(environment, "ViewerQuery"), /token/i);
    session.accessToken = undefined;
    session.keep(await mutate(environment, "RefreshMutation", { input: { refreshToken } }));
    assert.equal((await ask(environment, "ViewerQuery")).viewer.user.login, session.member.login);

    await mutate(environment, "LogOutMutation", {});
    await assert.rejects(ask(environment, "ViewerQuery"));
  });

  test("reads two pages into one connection", async (t) => {
    const { environment, session } = await loggedIn(t);
    for (let number = 0; number < 8; number++) await post(session.author, `page ${number}`);
    const shown = await home(t, environment);
    assert.equal(shown().edges.length, 5);
    const { endCursor, hasNextPage } = shown().pageInfo;
    assert.equal(hasNextPage, true);
    await ask(environment, "MoreQuery", { count: 5, cursor: endCursor });
    assert.equal(new Set(ids(shown())).size, 8);
    assert.ok(shown().edges.every(({ node }) => node.author.login === session.author.login));
  });

  test("prepends a post of one's own, and takes it out when it is deleted", async (t) => {
    const { environment } = await loggedIn(t);
    const shown = await home(t, environment);
    const connections = [shown().__id];
    const { status } = await mutate(environment, "PostMutation", { input: { text: "my own" }, connections });
    assert.deepEqual(ids(shown()), [status.id]);
    await mutate(environment, "DeleteMutation", { input: { postId: status.id }, connections });
    assert.deepEqual(shown().edges, []);
  });

  test("shows a like before the answer, and keeps it afterwards", async (t) => {
    const answer = steps.gate();
    const { environment, session } = await loggedIn(t, { fetch: steps.fetchBehind(answer, "operationsLikeMutation") });
    const id = await steps.written(session);
    const shown = await home(t, environment);
    const liked = () => shown().edges.map(({ node }) => [node.id, node.viewerHasLiked, node.likeCount]);
    assert.deepEqual(liked(), [[id, false, 0]]);

    const optimistic = { __typename: "Status", id, likeCount: 1, viewerHasLiked: true };
    const done = mutate(
      environment,
      "LikeMutation",
      { input: { postId: id } },
      { optimisticResponse: { like: { post: optimistic, userErrors: [] } } },
    );
    assert.deepEqual(liked(), [[id, true, 1]]);
    answer.open();
    assert.deepEqual((await within(done, "the answer")).userErrors, []);
    assert.deepEqual(liked(), [[id, true, 1]]);
  });

  test("sees a post live, and on resuming the one it missed", async (t) => {
    const line = await cable(t);
    const { environment, session } = await loggedIn(t, { line });
    const shown = await home(t, environment);
    const received = steps.inbox();
    const failed = [];
    const { dispose } = relay.requestSubscription(environment, {
      subscription: artifact("LiveSubscription"),
      variables: { connections: [shown().__id] },
      onNext: ({ homeTimeline }) => received.add(homeTimeline),
      onError: (error) => failed.push(error),
    });
    t.after(dispose);
    await steps.seeLiveAndResume(session, received, line);
    assert.deepEqual(failed, []);
    assert.deepEqual(ids(shown()), received.events.map(({ edge }) => edge.node.id).reverse());
  });
});
