// Subscriptions as the graphql-sse client sees them, each on a connection of its own, and without it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createClient } from "graphql-sse";

import { ENDPOINT, HOME, PATIENCE, actUntil, mutate, post, reader, send, signUp, within } from "./perch.mjs";

const NOTHING_TO_TRY_AGAIN = 0;

function clientOf(t, token) {
  const client = createClient({
    url: ENDPOINT.href,
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    retryAttempts: NOTHING_TO_TRY_AGAIN,
  });
  t.after(() => client.dispose());
  return client;
}

async function eventWhere(results, wanted) {
  for (;;) {
    const { done, value } = await results.next();
    assert.equal(done, false, "the subscription completed before the event came");
    assert.equal(value.errors, undefined, JSON.stringify(value.errors));
    if (wanted(value.data.homeTimeline)) return value.data.homeTimeline;
  }
}

async function all(results) {
  const found = [];
  for await (const result of results) found.push(result);
  return found;
}

/** Return the codes of the errors with which an operation is answered, in one result that completes it. */
async function codes(client, request) {
  const [result, ...rest] = await within(all(client.iterate(request)), "the completion");
  assert.deepEqual(rest, []);
  return result.errors.map((error) => error.extensions.code);
}

describe("the graphql-sse client", { timeout: 3 * PATIENCE }, () => {
  test("hears the posts of a followed member, and on resuming those it missed", async (t) => {
    const { follower, author } = await reader();
    const client = clientOf(t, follower.token);

    const posted = new Set();
    const live = client.iterate({ query: HOME });
    const isPosted = (event) => event.__typename === "TimelineEntryPut" && posted.has(event.edge.node.id);
    const first = await actUntil(eventWhere(live, isPosted), async () => {
      posted.add(await post(author, `live ${posted.size}`));
    });
    assert.equal(first.edge.node.author.login, author.login);
    assert.match(first.edge.node.text, /^live \d+$/);
    await live.return();

    const missed = await post(author, "missed");
    const resumed = client.iterate({ query: HOME, variables: { after: first.cursor } });
    const isMissed = (event) => event.edge?.node.id === missed;
    const second = await within(eventWhere(resumed, isMissed), "the post written while nobody listened");
    assert.equal(second.edge.node.text, "missed");
  });

  test("can leave one subscription and keep another", async (t) => {
    const { follower, author } = await reader();
    const client = clientOf(t, follower.token);
    const kept = client.iterate({ query: HOME });
    const left = client.iterate({ query: HOME });
    const isPut = (event) => event.__typename === "TimelineEntryPut";
    await actUntil(Promise.all([eventWhere(kept, isPut), eventWhere(left, isPut)]), () => post(author, "to both"));
    await left.return();
    const last = await post(author, "to the one left");
    await within(
      eventWhere(kept, (event) => event.edge?.node.id === last),
      "the event of the subscription that was kept",
    );
  });

  test("gets one result of a query and of a mutation, and their completion", async (t) => {
    const member = await signUp();
    const client = clientOf(t, member.token);
    const query = await within(all(client.iterate({ query: "{ viewer { user { login } } }" })), "the query");
    assert.deepEqual(query, [{ data: { viewer: { user: { login: member.login } } } }]);
    const text = "by event stream";
    const mutation = await within(
      all(client.iterate({ query: `mutation { post(input: { text: "${text}" }) { status { text } } }` })),
      "the mutation",
    );
    assert.deepEqual(mutation, [{ data: { post: { status: { text } } } }]);
  });

  test("is told in the stream what is wrong with an operation", async (t) => {
    const client = clientOf(t, (await signUp()).token);
    assert.deepEqual(await codes(client, { query: "subscription {" }), ["GRAPHQL_PARSE_FAILED"]);
    assert.deepEqual(await codes(client, { query: "subscription { no }" }), ["GRAPHQL_VALIDATION_FAILED"]);
    assert.deepEqual(await codes(client, { query: HOME, variables: { after: 7.5 } }), ["BAD_USER_INPUT"]);
    assert.deepEqual(await codes(client, { query: HOME, variables: { after: "no cursor" } }), ["BAD_USER_INPUT"]);
  });

  test("is told in the stream that it has to sign in", async (t) => {
    assert.deepEqual(await codes(clientOf(t), { query: HOME }), ["UNAUTHENTICATED"]);
  });

  test("learns from the status that its token is forged", async (t) => {
    const refused = all(clientOf(t, "not.a.token").iterate({ query: HOME }));
    await within(
      assert.rejects(refused, (reason) => reason.response?.status === 401),
      "the refusal",
    );
  });

  test("is told UNAUTHENTICATED and completed when its session is ended by logOut", async (t) => {
    const { follower, author } = await reader();
    const live = clientOf(t, follower.token).iterate({ query: HOME });
    await actUntil(live.next(), () => post(author, "before the log-out"));
    await mutate("mutation { logOut { userErrors { code message } } }", {}, follower.token);
    const results = await within(all(live), "the completion");
    assert.deepEqual(results.at(-1).errors?.map((error) => error.extensions.code), ["UNAUTHENTICATED"]);
  });
});

describe("without the client", { timeout: PATIENCE }, () => {
  test("a mutation is not run by GET", async () => {
    const url = new URL(ENDPOINT);
    url.searchParams.set("query", "mutation { logOut { userErrors { code } } }");
    const response = await fetch(url, { headers: { Accept: "text/event-stream" } });
    assert.match(await response.text(), /A mutation needs POST/);
  });

  test("a subscription asked for as JSON is told what it needs", async () => {
    const { errors } = await send(HOME);
    assert.match(errors[0].message, /text\/event-stream/);
  });
});
