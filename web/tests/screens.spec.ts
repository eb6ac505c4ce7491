import { writeFileSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { expect, test } from "./support/perch.ts";
import { ADDRESS } from "./support/server.ts";

// The screens of docs/web-client.md, from the demo. With `SCREENS=write` they are written there; without it, each
// is only opened, so that a screen that breaks is noticed.
const FOLDER = new URL("../../docs/screens/", import.meta.url);
const ROBIN = { login: "robin", password: "birds of a feather" }; // the login that the README gives
const MODERATOR = { login: "nightowl", password: ROBIN.password };
const WIDE = { width: 1100, height: 760 };
const NARROW = { width: 320, height: 640 };
const MOST_BYTES = 80_000;

const LOG_IN = `mutation LogIn($input: LogInInput!) {
  logIn(input: $input) { accessToken refreshToken expiresAt viewer { user { id login } } }
}`;

interface Look {
  size?: typeof WIDE;
  colorScheme?: "light" | "dark";
}

async function open(browser: Browser, who: typeof ROBIN | null, look: Look = {}): Promise<Page> {
  const localStorage = who ? [{ name: "perch.session", value: JSON.stringify(await session(who)) }] : [];
  const context = await browser.newContext({
    baseURL: ADDRESS,
    locale: "en-GB",
    viewport: look.size ?? WIDE,
    colorScheme: look.colorScheme ?? "light",
    reducedMotion: "reduce",
    storageState: { cookies: [], origins: [{ origin: ADDRESS, localStorage }] },
  });
  return context.newPage();
}

async function session({ login, password }: typeof ROBIN) {
  const response = await fetch(`${ADDRESS}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: LOG_IN, variables: { input: { identifier: login, password } } }),
  });
  const { viewer, ...tokens } = (await response.json()).data.logIn;
  return { userId: viewer.user.id, login: viewer.user.login, ...tokens };
}

/** Returns the demo's newest post with a picture. Other tests post, too, but not as Robin. */
async function pictured(): Promise<string> {
  const query = `{ user(login: "robin") { timeline(first: 50) { nodes { ... on Post { id images { id } } } } } }`;
  const response = await fetch(`${ADDRESS}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const nodes = (await response.json()).data.user.timeline.nodes as { id: string; images: unknown[] }[];
  return nodes.find(({ images }) => images.length > 0)?.id ?? "";
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate(async () => {
    const isShown = (one: Element) => one.getBoundingClientRect().top < window.innerHeight;
    await document.fonts.ready;
    await Promise.all([...document.images].filter(isShown).map((one) => one.decode()));
  });
  if (process.env.SCREENS !== "write") return;
  const picture = await page.screenshot({ type: "jpeg", quality: 72 });
  expect(picture.length, name).toBeLessThan(MOST_BYTES);
  writeFileSync(new URL(`${name}.jpg`, FOLDER), picture);
}

test("the screens of the docs open on the demo", async ({ browser }) => {
  test.setTimeout(120_000);
  const page = await open(browser, ROBIN);
  const show = async (name: string, path: string, content: string) => {
    await page.goto(path);
    await page.locator(content).first().waitFor();
    await expect(page.getByText("Connecting…")).toBeHidden();
    await take(page, name);
  };
  await show("home", "/", "article");
  await page.emulateMedia({ colorScheme: "dark" });
  await take(page, "home-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await show("profile", "/@robin", "article");
  await show("explore", "/explore", "article");
  await show("thread", `/posts/${await pictured()}`, "article img[srcset], article li img");
  await show("notifications", "/notifications", "main li");
  await show("messages", "/messages", "main li");
  await page.locator("main li a").first().click();
  await page.getByLabel("Your message").waitFor();
  await take(page, "conversation");
  await show("settings", "/settings", "form");
  await page.goto("/");
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page
    .getByLabel("Your text")
    .fill("A wren in the hedge behind the mill, louder than the lorry. #birding");
  await page.getByRole("dialog").getByRole("button", { name: "Post" }).waitFor();
  await take(page, "compose");
  await page.keyboard.press("Escape");
  await page.setViewportSize(NARROW);
  await show("home-narrow", "/", "article");
  await page.context().close();
});

test("the moderators' queue of the docs opens on the demo", async ({ browser }) => {
  const page = await open(browser, MODERATOR);
  await page.goto("/moderation");
  await page.locator("main li").first().waitFor();
  await take(page, "moderation");
  await page.context().close();
});
