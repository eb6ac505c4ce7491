// What every check needs: where the server is, and members to act with.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";

if (!process.env.PERCH_URL) throw new Error("PERCH_URL must name the endpoint, such as http://127.0.0.1:8000/graphql");

export const ENDPOINT = new URL(process.env.PERCH_URL);
export const SOCKET = new URL(ENDPOINT.href.replace(/^http/, "ws"));
export const PROTOCOL = "graphql-transport-ws";
export const PATIENCE = 20_000; // milliseconds before something that should have happened counts as missing
const RETRY = 500; // milliseconds between two attempts at what may not have taken hold yet

export const HOME = `subscription Home($after: String) {
  homeTimeline(after: $after) {
    __typename
    ... on StreamEvent { cursor }
    ... on TimelineEntryPut { edge { node { ... on Status { id text author { login } } } } }
  }
}`;

/** Send one operation over HTTP and return the whole result. */
export async function send(query, variables = {}, token = undefined) {
  const response = await fetch(ENDPOINT, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

/** Run one mutation that must succeed and return its payload. */
export async function mutate(query, variables, token) {
  const { data, errors } = await send(query, variables, token);
  assert.equal(errors, undefined, JSON.stringify(errors));
  const [payload] = Object.values(data);
  assert.deepEqual(payload.userErrors, []);
  return payload;
}

/** Sign up a member that nobody has met before. */
export async function signUp() {
  const login = `n${randomBytes(8).toString("hex")}`;
  const password = randomBytes(16).toString("hex");
  const payload = await mutate(
    `mutation ($input: SignUpInput!) {
      signUp(input: $input) { accessToken viewer { user { id login } } userErrors { code message field } }
    }`,
    { input: { login, name: login, email: `${login}@example.org`, password } },
  );
  return { ...payload.viewer.user, token: payload.accessToken, password };
}

/** Sign up two members of whom the first follows the second. */
export async function reader() {
  const [follower, author] = await Promise.all([signUp(), signUp()]);
  await mutate(
    "mutation ($input: UsersInput!) { follow(input: $input) { users { id } userErrors { code message } } }",
    { input: { userIds: [author.id] } },
    follower.token,
  );
  return { follower, author };
}

/** Post one text and return the id of the status. */
export async function post(author, text) {
  const payload = await mutate(
    "mutation ($input: PostInput!) { post(input: $input) { status { id } userErrors { code message } } }",
    { input: { text } },
    author.token,
  );
  return payload.status.id;
}

/** Act again and again until `seen` resolves: a subscription takes hold some time after it was asked for. */
export async function actUntil(seen, act) {
  const deadline = Date.now() + PATIENCE;
  let outcome;
  const settled = seen.then((value) => (outcome = { value }));
  settled.catch(() => {}); // it is awaited below, perhaps only after `act` is done
  while (!outcome) {
    assert.ok(Date.now() < deadline, `nothing came within ${PATIENCE} ms`);
    await act();
    await Promise.race([settled, pause(RETRY)]);
  }
  return outcome.value;
}

/** Wait for a promise, but not for ever. */
export async function within(promise, what, milliseconds = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Stand between a client and the server as a cable that can be cut; returns its address and both halves of that. */
export async function cable(t) {
  const ends = new Set();
  let isCut = false;
  const listener = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(ENDPOINT.port), ENDPOINT.hostname);
    for (const [end, other] of [[near, far], [far, near]]) {
      ends.add(end);
      end.on("error", () => {}); // what is cut says so
      end.on("close", () => {
        ends.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const cut = () => {
    isCut = true;
    ends.forEach((end) => end.resetAndDestroy());
  };
  const mend = () => (isCut = false);
  t.after(() => {
    cut();
    listener.close();
  });
  const url = new URL(ENDPOINT);
  url.port = listener.address().port;
  return { url: url.href, cut, mend };
}
