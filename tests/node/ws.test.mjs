// Subscriptions as the graphql-ws client sees them, and the close codes of the graphql-transport-ws protocol.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";

import { createClient } from "graphql-ws";
import WebSocket from "ws";

import { HOME, PATIENCE, PROTOCOL, SOCKET, actUntil, mutate, post, reader, signUp, within } from "./perch.mjs";

const KEEP_ALIVE = 100; // milliseconds between two pings of the client

function clientOf(member, more = {}) {
  return createClient({
    url: SOCKET.href,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${member.token}` },
    retryAttempts: 0,
    ...more,
  });
}

async function payloadWhere(events, wanted) {
  for await (const { data, errors } of events) {
    assert.equal(errors, undefined, JSON.stringify(errors));
    if (wanted(data.homeTimeline)) return data.homeTimeline;
  }
  throw new Error("the subscription completed before the event came");
}

describe("the graphql-ws client", { timeout: 3 * PATIENCE }, () => {
  test("hears the posts of a followed member, and on resuming those it missed", async (t) => {
    const { follower, author } = await reader();
    const client = clientOf(follower);
    t.after(() => client.dispose());

    const posted = new Set();
    const live = client.iterate({ query: HOME });
    const isPosted = (event) => event.__typename === "TimelineEntryPut" && posted.has(event.edge.node.id);
    const first = await actUntil(payloadWhere(live, isPosted), async () => {
      posted.add(await post(author, `live ${posted.size}`));
    });
    assert.equal(first.edge.node.author.login, author.login);
    assert.match(first.edge.node.text, /^live \d+$/);

    const missed = await post(author, "missed");
    const resumed = client.iterate({ query: HOME, variables: { after: first.cursor } });
    const second = await within(
      payloadWhere(resumed, (event) => event.edge?.node.id === missed),
      "the post written while nobody listened",
    );
    assert.equal(second.edge.node.text, "missed");
  });

  test("can complete one subscription and keep another on the same socket", async (t) => {
    const { follower, author } = await reader();
    let closed = 0;
    const client = clientOf(follower, { on: { closed: () => (closed += 1) } });
    t.after(() => client.dispose());

    const kept = client.iterate({ query: HOME });
    const dropped = client.iterate({ query: HOME });
    const isPut = (event) => event.__typename === "TimelineEntryPut";
    const both = Promise.all([payloadWhere(dropped, isPut), kept.next()]);
    await actUntil(both, () => post(author, "to both"));

    await dropped.return();
    assert.equal((await dropped.next()).done, true);
    const last = await post(author, "to the one left");
    await within(
      payloadWhere(kept, (event) => event.edge?.node.id === last),
      "the event of the subscription that was kept",
    );
    assert.equal(closed, 0, "the socket outlives the subscription that was completed");
  });

  test("gets a pong for each of its pings", async (t) => {
    const { follower } = await reader();
    let pongs = 0;
    let enough;
    const answered = new Promise((resolve) => (enough = resolve));
    const client = clientOf(follower, {
      lazy: false,
      keepAlive: KEEP_ALIVE,
      on: {
        pong: (received) => {
          if (received) pongs += 1;
          if (pongs === 3) enough();
        },
      },
    });
    t.after(() => client.dispose());
    await within(answered, "three pongs");
  });

  test("is closed with 4403 when its session is ended by logOut", async (t) => {
    const { follower, author } = await reader();
    let report;
    const closed = new Promise((resolve) => (report = resolve));
    const client = clientOf(follower, { on: { closed: (event) => report(event) } });
    t.after(() => client.dispose());

    const live = client.iterate({ query: HOME });
    await actUntil(live.next(), () => post(author, "before the log-out"));
    const broken = assert.rejects(payloadWhere(live, () => false), (reason) => reason.code === 4403);
    await mutate("mutation { logOut { userErrors { code message } } }", {}, follower.token);
    assert.equal((await within(closed, "the close")).code, 4403);
    await broken;
  });
});

describe("a raw socket is closed with", { timeout: 3 * PATIENCE }, () => {
  const sockets = [];
  let member;

  before(async () => {
    member = await signUp();
  });
  after(() => sockets.forEach((socket) => socket.terminate()));

  async function open() {
    const socket = new WebSocket(SOCKET, PROTOCOL);
    sockets.push(socket);
    // Listening starts before anything is sent: a close that comes at once is not missed.
    const code = new Promise((resolve) => socket.once("close", resolve));
    await within(once(socket, "open"), "the handshake");
    assert.equal(socket.protocol, PROTOCOL);
    const say = (...messages) =>
      messages.forEach((message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)));
    return { socket, say, code: within(code, "the close") };
  }

  const init = () => ({ type: "connection_init", payload: { Authorization: `Bearer ${member.token}` } });
  const subscribe = (id) => ({ type: "subscribe", id, payload: { query: HOME } });

  async function opened() {
    const { socket, say, code } = await open();
    const answer = once(socket, "message");
    say(init());
    const [message] = await within(answer, "connection_ack");
    assert.equal(JSON.parse(message).type, "connection_ack");
    return { say, code };
  }

  const MALFORMED = {
    "no JSON": "perch",
    "no object": "null",
    "no type": "{}",
    "an unknown type": { type: "chirp" },
    "an id that is no text": { type: "subscribe", id: 1, payload: { query: HOME } },
    "a subscribe without a query": { type: "subscribe", id: "1", payload: {} },
  };
  for (const [name, message] of Object.entries(MALFORMED)) {
    test(`4400 on a message that is malformed: ${name}`, async () => {
      const { say, code } = await opened();
      say(message);
      assert.equal(await code, 4400);
    });
  }

  test("4401 on a subscribe before connection_init", async () => {
    const { say, code } = await open();
    say(subscribe("1"));
    assert.equal(await code, 4401);
  });

  test("4403 on a token that is forged", async () => {
    const { say, code } = await open();
    say({ type: "connection_init", payload: { Authorization: "Bearer not.a.token" } });
    assert.equal(await code, 4403);
  });

  test("4408 when connection_init does not come in time", async () => {
    const { code } = await open();
    assert.equal(await code, 4408);
  });

  test("4409 on the id of a subscription that is running", async () => {
    const { say, code } = await opened();
    say(subscribe("same"), subscribe("same"));
    assert.equal(await code, 4409);
  });

  test("4429 on a second connection_init", async () => {
    const { say, code } = await open();
    say(init(), init());
    assert.equal(await code, 4429);
  });
});
