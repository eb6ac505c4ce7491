// The client that the API guide shows for graphql-ws: when it connects again, and when it gives up.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";

import WebSocket from "ws";

import { HOME, PATIENCE, PROTOCOL, SOCKET, actUntil, post, reader, within } from "./perch.mjs";

const MODULE = new URL("./api-guide-client.mjs", import.meta.url);
const SOCKETS_PER_MEMBER = 20; // the server's default

describe("the client of the API guide", { timeout: 3 * PATIENCE }, () => {
  let subscriptions;

  before(async () => {
    const guide = await readFile(process.env.PERCH_API_GUIDE, "utf8");
    const [, code] = guide.match(/```js\n(.*?"graphql-ws".*?)```/s);
    await writeFile(MODULE, code);
    ({ subscriptions } = await import(MODULE));
  });
  after(() => rm(MODULE, { force: true }));

  function clientOf(t, accessToken) {
    const codes = [];
    const client = subscriptions(SOCKET.href, { accessToken }, { webSocketImpl: WebSocket });
    client.on("closed", (close) => codes.push(close.code));
    t.after(() => client.dispose());
    return { client, codes };
  }

  test("gets in beyond the limit of sockets as soon as there is room", async (t) => {
    const { follower, author } = await reader();
    const sockets = await Promise.all(Array.from({ length: SOCKETS_PER_MEMBER }, () => opened(follower)));
    t.after(() => sockets.forEach((socket) => socket.terminate()));
    const { client, codes } = clientOf(t, async () => follower.token);

    const refused = new Promise((resolve) => client.on("closed", resolve));
    const live = client.iterate({ query: HOME });
    const first = live.next();
    assert.equal((await within(refused, "the refusal of one socket too many")).code, 1013);
    sockets.pop().close();
    const { value } = await actUntil(first, () => post(author, "there is room"));
    assert.equal(value.errors, undefined);
    assert.ok(codes.every((code) => code === 1013), String(codes));
  });

  test("renews a token that is refused, once", async (t) => {
    const { follower, author } = await reader();
    const { client, codes } = clientOf(t, async (renewed) => (renewed ? follower.token : "not.a.token"));
    const first = client.iterate({ query: HOME }).next();
    await actUntil(first, () => post(author, "a new token"));
    assert.deepEqual(codes, [4403]);
  });

  test("gives up when the renewed token is refused too", async (t) => {
    const { client, codes } = clientOf(t, async () => "not.a.token");
    const first = client.iterate({ query: HOME }).next();
    await within(assert.rejects(first, (close) => close.code === 4403), "the end");
    assert.deepEqual(codes, [4403, 4403]);
  });

  test("gives up when the session cannot be refreshed", async (t) => {
    const { client } = clientOf(t, async (renewed) => {
      if (renewed) throw new Error("log in again");
      return "not.a.token";
    });
    await within(assert.rejects(client.iterate({ query: HOME }).next()), "the end");
  });
});

/** Open a socket of a member and wait until it is acknowledged. */
async function opened(member) {
  const socket = new WebSocket(SOCKET, PROTOCOL);
  await within(once(socket, "open"), "the handshake");
  const answer = once(socket, "message");
  socket.send(JSON.stringify({ type: "connection_init", payload: { Authorization: `Bearer ${member.token}` } }));
  await within(answer, "connection_ack");
  return socket;
}
