// The stream of the whole site and samples of it, as the graphql-ws and graphql-sse clients get them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createClient as createEventClient } from "graphql-sse";
import { createClient as createSocketClient } from "graphql-ws";
import WebSocket from "ws";

import { ENDPOINT, PATIENCE, actUntil, cable, mutate, post, signUp, within } from "./perch.mjs";

const RETRY = { retryAttempts: 100, retry: nap, retryWait: nap }; // the clients have two names for it
const NO_RETRY = { retryAttempts: 0 };

const EVENT = "__typename ... on StreamEvent { cursor } ... on PostCreated { post { id text } }";
const STREAM = `subscription Site($filter: StreamFilter, $kinds: [StreamEventKind!], $after: String) {
  stream(filter: $filter, kinds: $kinds, after: $after) { ${EVENT} ... on PostDeleted { postId } }
}`;
const SAMPLE = `subscription Sample($percent: Int!, $after: String) {
  sample(percent: $percent, after: $after) { ${EVENT} }
}`;
const MUCH = { percent: 100 };

const CLIENTS = {
  "graphql-ws": (url, headers, more) =>
    createSocketClient({ url: url.replace(/^http/, "ws"), webSocketImpl: WebSocket, connectionParams: headers, ...more }),
  "graphql-sse": (url, headers, more) => createEventClient({ url, headers, ...more }),
};

function nap() {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

/** Return a phrase that nobody else uses, and what asks for it. */
function phrase() {
  const word = `w${Math.random().toString(36).slice(2)}`;
  return { word, filter: { track: [word] } };
}

/**
 * Subscribe, and keep the last cursor in the variables: both clients send them anew whenever they come back, so that
 * they go on where they were.
 */
function follow(client, query, variables) {
  const asked = { query, variables: { ...variables } };
  const events = [];
  let ended = "";
  let wake = () => {};
  const leave = client.subscribe(asked, {
    next: ({ data, errors }) => {
      assert.equal(errors, undefined, JSON.stringify(errors));
      const [event] = Object.values(data);
      asked.variables.after = event.cursor;
      events.push(event);
      wake();
    },
    error: (reason) => {
      ended = `an error: ${reason}`;
      wake();
    },
    complete: () => {
      ended = "its completion";
      wake();
    },
  });
  /** Return the event of a post, which must come; of no one in particular, the first event. */
  async function of(id) {
    for (;;) {
      const found = events.find((event) => !id || event.post?.id === id);
      if (found) return found;
      assert.equal(ended, "", "the subscription ended");
      await new Promise((resolve) => (wake = resolve));
    }
  }
  return { events, leave, of, ended: () => ended };
}

/** Return the codes of the errors that end a subscription, however the client hands them over. */
async function codes(client, query, variables) {
  const found = [];
  try {
    for await (const { errors } of client.iterate({ query, variables })) found.push(...(errors ?? []));
  } catch (errors) {
    assert.ok(Array.isArray(errors), String(errors));
    found.push(...errors);
  }
  return found.map((error) => error.extensions.code);
}

for (const [name, create] of Object.entries(CLIENTS)) {
  const clientOf = (t, { token }, url = ENDPOINT.href, more = NO_RETRY) => {
    const client = create(url, token ? { Authorization: `Bearer ${token}` } : {}, more);
    t.after(() => client.dispose());
    return client;
  };

  /** Subscribe, and return once posts are heard. */
  async function begin(client, author, query, variables, word = "tea") {
    const live = follow(client, query, variables);
    await actUntil(live.of(), () => post(author, `${word} to begin with`));
    // What was heard may be another test's post, and this author's have come before the subscription.
    await within(live.of(await post(author, `${word}, now that it is heard`)), "the first post after that");
    return live;
  }

  describe(`with the ${name} client`, { timeout: 3 * PATIENCE }, () => {
    test("a filtered stream is heard, and resumed after what was heard", async (t) => {
      const { word, filter } = phrase();
      const author = await signUp();
      const client = clientOf(t, author);
      const live = await begin(client, author, STREAM, { filter, kinds: ["POST_CREATED"] }, word);
      await post(author, "something else");
      const [second, gone] = [await post(author, `another #${word}`), await post(author, `and ${word} again`)];
      await within(live.of(gone), "the last post");
      assert.ok(live.events.every((event) => event.post.text.includes(word)));
      const { cursor } = await live.of(second);
      live.leave();
      await mutate(
        "mutation ($input: PostIdInput!) { deletePost(input: $input) { userErrors { code } } }",
        { input: { postId: gone } },
        author.token,
      );
      const third = await post(author, `${word}, while nobody listened`);
      const resumed = follow(client, STREAM, { filter, after: cursor });
      await within(resumed.of(third), "the post written while nobody listened");
      const delivered = resumed.events.map((event) => event.post?.id ?? event.postId);
      assert.deepEqual(delivered, [gone, third], "the end of what is gone, and the rest, once");
    });

    test("a sample of all posts is heard, and ends when it is left", async (t) => {
      const author = await signUp();
      const client = clientOf(t, author);
      const live = await begin(client, author, SAMPLE, MUCH);
      const ids = [await post(author, "one"), await post(author, "two")];
      for (const id of ids) await within(live.of(id), "a post");
      live.leave();
      const other = await begin(client, author, SAMPLE, { ...MUCH, after: live.events.at(-1).cursor });
      assert.ok(!live.events.some((event) => event.cursor === other.events.at(-1).cursor), "it was left");
      assert.equal(live.ended(), "its completion");
    });

    test("what cannot be is refused with its code, and the client goes on", async (t) => {
      const author = await signUp();
      const client = clientOf(t, author);
      for (const [query, variables] of [
        [STREAM, { filter: {} }],
        [STREAM, { filter: { track: [] } }],
        [STREAM, { kinds: ["NOTHING"] }],
        [STREAM, { after: "nonsense" }],
        [SAMPLE, { percent: 101 }],
      ]) {
        const refused = await within(codes(client, query, variables), `the refusal of ${JSON.stringify(variables)}`);
        assert.deepEqual(refused, ["BAD_USER_INPUT"]);
      }
      await begin(client, author, SAMPLE, MUCH);
    });

    test("nobody is told to sign in", async (t) => {
      assert.deepEqual(await within(codes(clientOf(t, {}), STREAM, {}), "the refusal"), ["UNAUTHENTICATED"]);
    });

    test("nothing is missed when the connection is cut and the client comes back by itself", async (t) => {
      const { word, filter } = phrase();
      const author = await signUp();
      const line = await cable(t);
      const client = clientOf(t, author, line.url, RETRY);
      const live = await begin(client, author, STREAM, { filter }, word);
      const posted = [];
      for (const round of [1, 2]) {
        line.cut();
        posted.push(await post(author, `${word} missed ${round}`));
        line.mend();
        await within(live.of(posted.at(-1)), "what was missed");
        posted.push(await post(author, `${word} live ${round}`));
        await within(live.of(posted.at(-1)), "what is live again");
      }
      const ids = live.events.map((event) => event.post.id);
      assert.deepEqual(ids.slice(-posted.length), posted);
      assert.equal(new Set(ids).size, ids.length, "nothing comes twice");
      assert.equal(live.ended(), "");
    });
  });
}
