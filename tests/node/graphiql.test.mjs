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

function answer(page, expected) {
  return page.locator(".graphiql-response").getByText(expected).first().waitFor();
}

async function standing(page, expected) {
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
  await standing(page, "anonymous");
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

test("signing up takes the token over; another can be put in its place, refused or forgotten", LIMIT, async (t) => {
  const { page, problems } = await visit(t);
  const login = `p${Date.now().toString(36)}`;
  const input = `{ login: "${login}", name: "P", email: "${login}@example.org", password: "${crypto.randomUUID()}" }`;
  const signingUp = `mutation Joining { signUp(input: ${input}) { accessToken userErrors { message } } }`;
  await run(page, signingUp, "accessToken");
  await standing(page, new RegExp(`^signed in as @${login}`));
  await run(page, "query Me { viewer { user { login } } }", `"${login}"`);
  await page.reload();
  await standing(page, `signed in as @${login}`);

  const other = await signUp();
  const place = page.getByLabel("Access token");
  await place.fill(other.token);
  await place.press("Enter");
  await standing(page, `signed in as @${other.login}`);
  await run(page, "query Other { viewer { user { login } } }", `"${other.login}"`);

  assert.deepEqual(problems, []);
  await place.fill("not.a.token");
  await place.press("Enter");
  await standing(page, "token refused");
  const schema = introspection(page);
  await page.reload();
  assert.equal((await schema).status(), 200, "the schema is there whatever the token");
  await standing(page, "token refused");
  await page.getByRole("button", { name: "Forget" }).click();
  await standing(page, "anonymous");
  assert.equal(await place.inputValue(), "");
  assert.deepEqual(problems.filter((problem) => !REFUSED.test(problem)), []);
});

test("a subscription started in the page shows what a followed member posts", LIMIT, async (t) => {
  const { follower, author } = await reader();
  const { page, problems } = await visit(t);
  await page.getByLabel("Access token").fill(follower.token);
  await page.getByRole("button", { name: "Use" }).click();
  await standing(page, `signed in as @${follower.login}`);
  await page.getByRole("tab", { name: "LiveHome" }).click();
  const opened = page.waitForEvent("websocket");
  // Until GraphiQL has read the new tab, its button offers a menu of the operations of the one before.
  await page.locator(".graphiql-execute-button:not([aria-haspopup])").click();
  const socket = await opened;
  await actUntil(answer(page, "The heron is back"), () => post(author, "The heron is back"));
  await screenshot(page, "graphiql-subscription");

  const closed = socket.waitForEvent("close");
  await page.getByRole("button", { name: /^Stop query/ }).click();
  await within(closed, "the end of the websocket");
  assert.deepEqual(problems, []);
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
