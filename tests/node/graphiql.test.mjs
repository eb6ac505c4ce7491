// GraphiQL, and an event stream, in a real browser that can reach nothing but the server.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { buildClientSchema, getIntrospectionQuery, parse, validate } from "graphql";
import { chromium } from "playwright-core";

import { ENDPOINT, PATIENCE, actUntil, post, reader, send, signUp, within } from "./perch.mjs";

const CHROMIUM = "/usr/bin/chromium";
const WINDOW = { width: 1280, height: 800 }; // pixels
const TELEPHONE = { width: 390, height: 844 };
const LEAST_WIDTH = 300; // pixels of each editor on it
const LIMIT = { timeout: 4 * PATIENCE };
const FLAGS = [
  "--no-sandbox", // Chromium refuses its sandbox to root, who runs this in a container
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${ENDPOINT.hostname}`,
];
const REFUSED = /status of 401/; // what Chromium logs of a request that the server refuses

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
});
after(() => browser?.close());

/** Open the page in a browser of its own and note everything that should not happen. */
async function visit(t) {
  const context = await browser.newContext({ viewport: WINDOW });
  t.after(() => context.close());
  context.setDefaultTimeout(PATIENCE);
  const problems = [];
  await context.exposeFunction("reportViolation", (what) => problems.push(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (violation) =>
      window.reportViolation(`${violation.violatedDirective} ${violation.blockedURI}`),
    );
  });
  await context.route("**/*", (route) => {
    const url = new URL(route.request().url());
    if (url.origin === ENDPOINT.origin) return route.continue();
    problems.push(`another origin: ${url}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (line) => line.type() === "error" && problems.push(`console: ${line.text()}`));
  page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== ENDPOINT.host) problems.push(`another origin: ${socket.url()}`);
  });
  const schema = introspection(page);
  await page.goto(ENDPOINT.href);
  assert.equal((await schema).status(), 200);
  await page.locator(".graphiql-query-editor .CodeMirror").waitFor();
  return { page, problems };
}

function introspection(page) {
  return page.waitForResponse((response) => response.request().postData()?.includes("IntrospectionQuery"));
}

/** Write a named operation into the query editor with the keyboard, run it, and wait until the answer has a text. */
async function run(page, query, expected) {
  await page.locator(".graphiql-query-editor .CodeMirror").click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(query);
  // GraphiQL reads the operation's name a moment after the last key; until then it would run the one before.
  const [, name] = query.match(/^\w+ (\w+)/);
  await page.locator(".graphiql-tab-active").getByText(name, { exact: true }).waitFor();
  await page.keyboard.press("ControlOrMeta+Enter");
  await answer(page, expected);
}

/** Run the example of a tab. */
async function runTab(page, name) {
  // The tab that is active already has the button that closes it in its name.
  await page.getByRole("tab", { name: new RegExp(`^${name}\\b`) }).click();
  // GraphiQL reads the new tab a moment later; until then it would run the one before.
  await page.locator(".graphiql-query-editor .cm-def").getByText(name, { exact: true }).waitFor();
  await page.locator(".graphiql-execute-button:not([aria-haspopup])").click();
}

/** Return the text of the answer that is shown, once it is there. */
async function responseTo(page) {
  await answer(page, /^"(data|errors|events)"$/);
  return page.evaluate(() => document.querySelector(".graphiql-response .CodeMirror").CodeMirror.getValue());
}

function answer(page, expected) {
  return page.locator(".graphiql-response").getByText(expected).first().waitFor();
}

async function account(page, expected) {
  await page.getByRole("status").and(page.getByText(expected, { exact: typeof expected === "string" })).waitFor();
}

async function screenshot(page, name) {
  const folder = process.env.PERCH_SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("the page loads without a fault, knows the schema and answers a typed query", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  assert.equal(await page.title(), "Perch");
  await account(page, "anonymous");
  await run(page, "query Kind { __typename }", '"Query"');
  await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
  await page.locator(".graphiql-doc-explorer").getByRole("link", { name: "Mutation" }).waitFor();
  await screenshot(page, "graphiql-query");
  assert.deepEqual(problems, []);
});

test("every example is valid against the schema that the server has", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  const examples = await page.evaluate(async () => {
    const script = document.querySelector('script[type="module"]');
    return (await import(new URL("examples.js", script.src).href)).EXAMPLES;
  });
  const schema = buildClientSchema((await send(getIntrospectionQuery())).data);
  const faults = examples.flatMap(({ query }) => validate(schema, parse(query)).map((fault) => fault.message));
  assert.deepEqual(faults, []);
  assert.equal(await page.getByRole("tab").count(), examples.length, "each example has a tab");
  assert.deepEqual(problems, []);
});

test("the examples work in the order of their tabs, and nothing has to be copied", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  const steps = [
    ["LogIn", /"robin"/],
    ["HomeTimeline", /"pageInfo"/],
    ["Post", /First light on the lake/],
    ["PublicTimeline", /"likeCount"/],
    ["Like", /"viewerHasLiked": true/],
    ["Unlike", /"viewerHasLiked": false/],
    ["FindMember", /"hana_s"/],
    ["Follow", /"viewerIsFollowing": true/],
  ];
  for (const [name, expected] of steps) {
    await runTab(page, name);
    assert.match(await responseTo(page), expected);
  }
  await account(page, /^signed in as @robin/);
  await screenshot(page, "graphiql-examples");
  assert.deepEqual(problems, []);
});

test("an example that needs an earlier answer names the operation to run first", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  await runTab(page, "Like");
  await answer(page, /Run PublicTimeline first/);
  assert.deepEqual(problems, []);
});

test("signing up takes the token over; another can be put in its place, refused or forgotten", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  const login = `p${Date.now().toString(36)}`;
  const input = `{ login: "${login}", name: "P", email: "${login}@example.org", password: "${crypto.randomUUID()}" }`;
  const signingUp = `mutation Joining { signUp(input: ${input}) { accessToken userErrors { message } } }`;
  await run(page, signingUp, "accessToken");
  await account(page, new RegExp(`^signed in as @${login}`));
  await run(page, "query Me { viewer { user { login } } }", `"${login}"`);
  await page.reload();
  await account(page, `signed in as @${login}`);

  const other = await signUp();
  const place = page.getByLabel("Access token");
  await place.fill(other.token);
  await place.press("Enter");
  await account(page, `signed in as @${other.login}`);
  await run(page, "query Other { viewer { user { login } } }", `"${other.login}"`);

  assert.deepEqual(problems, []);
  await place.fill("not.a.token");
  await place.press("Enter");
  await account(page, "token refused");
  const schema = introspection(page);
  await page.reload();
  assert.equal((await schema).status(), 200, "the schema is there whatever the token");
  await account(page, "token refused");
  await page.getByRole("button", { name: "Forget" }).click();
  await account(page, "anonymous");
  assert.equal(await place.inputValue(), "");
  assert.deepEqual(problems.filter((problem) => !REFUSED.test(problem)), []);
});

test("a subscription started in the page shows what a followed member posts", LIMIT, async (t) => {
  const { follower, author } = await reader();
  const { page, problems } = await visit(t);
  await page.getByLabel("Access token").fill(follower.token);
  await page.getByRole("button", { name: "Use" }).click();
  await account(page, `signed in as @${follower.login}`);
  const opened = page.waitForEvent("websocket");
  await runTab(page, "LiveHome");
  const socket = await opened;
  await actUntil(answer(page, "The heron is back"), () => post(author, "The heron is back"));
  await post(author, "The heron has a mate");
  await answer(page, "The heron has a mate");
  const { events } = JSON.parse(await responseTo(page));
  const texts = events.map(({ data }) => data.homeTimeline.edge.node.text);
  assert.equal(texts[0], "The heron has a mate", "the newest event comes first");
  assert.ok(texts.slice(1).includes("The heron is back"), "the event before is still listed");
  await screenshot(page, "graphiql-subscription");

  const closed = socket.waitForEvent("close");
  await page.getByRole("button", { name: /^Stop query/ }).click();
  await within(closed, "the end of the websocket");
  assert.deepEqual(problems, []);
});

test("on a telephone the query is above its answer, and both are wide enough to read", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  await page.setViewportSize(TELEPHONE);
  await runTab(page, "LogIn");
  await responseTo(page);
  const query = await page.locator(".graphiql-editors").boundingBox();
  const response = await page.locator(".graphiql-response").boundingBox();
  for (const { x, width } of [query, response]) {
    assert.ok(width >= LEAST_WIDTH, `${width} px`);
    assert.ok(x + width <= TELEPHONE.width);
  }
  assert.ok(response.y >= query.y + query.height - 1);
  await screenshot(page, "graphiql-telephone");
  assert.deepEqual(problems, []);
});

test("a refused access token is refreshed once, and the operation is done all the same", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  await runTab(page, "LogIn");
  await account(page, /^signed in as @robin/);
  const spoil = () => page.evaluate(() => sessionStorage.setItem("perch:accessToken", "not.a.token"));
  const stored = (name) => page.evaluate((key) => sessionStorage.getItem(key), `perch:${name}`);

  const first = await stored("refreshToken");
  await spoil();
  await runTab(page, "HomeTimeline");
  assert.match(await responseTo(page), /"pageInfo"/);
  assert.notEqual(await stored("refreshToken"), first, "the refresh token is the new one");
  assert.equal(await page.getByLabel("Access token").inputValue(), await stored("accessToken"));

  await spoil();
  const second = await stored("refreshToken");
  await runTab(page, "LiveHome");
  await page.waitForFunction((used) => sessionStorage.getItem("perch:refreshToken") !== used, second);
  await runTab(page, "Post");
  assert.match(await responseTo(page), /First light on the lake/);

  await spoil();
  await page.reload();
  await account(page, "signed in as @robin");

  await spoil();
  await page.evaluate(() => sessionStorage.setItem("perch:refreshToken", "not.a.token"));
  await runTab(page, "HomeTimeline");
  assert.match(await responseTo(page), /UNAUTHENTICATED/);
  await account(page, "token refused");
  assert.equal(await stored("refreshToken"), null, "a refused refresh token is not sent again");
  assert.deepEqual(problems.filter((problem) => !REFUSED.test(problem)), []);
});

test("the browser's EventSource hears of a stream's results, and of its completion", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  const url = new URL(ENDPOINT);
  url.searchParams.set("query", "subscription { homeTimeline { __typename } }");
  const heard = await page.evaluate(
    (address) =>
      new Promise((resolve) => {
        const events = [];
        const source = new EventSource(address);
        source.addEventListener("next", ({ data }) => events.push(JSON.parse(data)));
        source.addEventListener("complete", () => {
          source.close();
          resolve(events);
        });
      }),
    url.href,
  );
  assert.deepEqual(heard.map(({ errors }) => errors[0].extensions.code), ["UNAUTHENTICATED"]); // it can send no token
  assert.deepEqual(problems, []);
});

test("a subscription without a token says why there is none", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  await run(page, "subscription Nobody { homeTimeline { __typename } }", /UNAUTHENTICATED/);
  assert.deepEqual(problems, []);
});
