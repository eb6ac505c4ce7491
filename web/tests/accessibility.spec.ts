import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, type Member, test } from "./support/perch.ts";

const NARROW = { width: 320, height: 640 };

async function check(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const axe = new AxeBuilder({ page });
    // Colours alone differ in the dark.
    const { violations } = await (colorScheme === "dark" ? axe.withRules(["color-contrast"]) : axe).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }
}

/** Signs up a member whose screens all have something on them. */
async function busy(signUp: (name: string) => Promise<Member>): Promise<[Member, string, string, string]> {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.follow(alice);
  const id = await bob.post(`Good morning @${alice.login}, see https://example.org/birds #birding`);
  await alice.ask("mutation F($id: ID!) { favourite(input: { postId: $id }) { userErrors { code } } }", {
    id,
  });
  const query = `mutation Start($input: StartConversationInput!) {
    startConversation(input: $input) { conversation { id } }
  }`;
  const { startConversation } = await bob.ask<{ startConversation: { conversation: { id: string } } }>(
    query,
    {
      input: { userIds: [alice.id], text: "Have you seen the heron?" },
    },
  );
  const { createGroup } = await alice.ask<{ createGroup: { group: { id: string } } }>(
    `mutation { createGroup(input: { name: "Nests", kind: PRIVATE }) { group { id } } }`,
  );
  const group = createGroup.group.id;
  await bob.ask(`mutation {
    joinGroup(input: { groupId: "${group}" }) { userErrors { code } }
    comment(input: { postId: "${id}", text: "Seen from the hide" }) { userErrors { code } }
  }`);
  await alice.ask(
    `mutation { post(input: { text: "Five eggs", groupId: "${group}" }) { userErrors { code } } }`,
  );
  return [alice, id, startConversation.conversation.id, group];
}

test("no screen of a member has a finding of axe or is wider than 320 px, in light and dark", async ({
  signUp,
}) => {
  test.setTimeout(180_000);
  const [alice, id, talk, group] = await busy(signUp);
  const page = await alice.open();
  await page.setViewportSize(NARROW);
  const screens = {
    "/": "article",
    "/explore": "article",
    "/tags/birding": "article",
    [`/posts/${id}`]: "section li",
    [`/@${alice.login}`]: "h2",
    [`/@${alice.login}/followers`]: "main li",
    "/notifications": "main li",
    "/favourites": "article",
    "/messages": "main li",
    [`/messages/${talk}`]: "main li",
    "/messages/new": "form",
    "/groups": "main li",
    "/groups/new": "form",
    [`/groups/${group}`]: "article",
    [`/groups/${group}/members`]: "main li",
    [`/groups/${group}/edit`]: "form",
    "/requests": "h1",
    "/settings": "form",
    "/settings/account": "form",
    "/settings/blocked": "h1",
    "/nothing": "h1",
  };
  for (const [path, content] of Object.entries(screens)) {
    await page.goto(path);
    await page.locator(content).first().waitFor();
    await check(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(
      NARROW.width,
    );
  }
});

test("no dialog or menu has a finding of axe", async ({ signUp }) => {
  const [alice] = await busy(signUp);
  const page = await alice.open();
  await page.getByRole("button", { name: "More about this post" }).click();
  await expect(page.getByRole("menu")).toBeVisible();
  await check(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await check(page);
});

test("no open screen has a finding of axe", async ({ page }) => {
  await page.setViewportSize(NARROW);
  for (const path of ["/", "/login", "/signup"]) {
    await page.goto(path);
    await page.locator("h1").waitFor();
    await check(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(
      NARROW.width,
    );
  }
});

test("nothing breaks the page's policy, and nothing comes from another origin", async ({ signUp }) => {
  const [alice, id] = await busy(signUp);
  const page = await alice.open();
  const problems: string[] = [];
  const foreign: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => {
    if (new URL(request.url()).host !== new URL(page.url()).host) foreign.push(request.url());
  });
  for (const path of ["/", "/explore", `/posts/${id}`, "/settings"]) {
    await page.goto(path);
    await page.locator("h1").waitFor();
  }
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").fill("@a");
  expect([problems, foreign]).toEqual([[], []]);
});

test("a member reaches a post and likes it by keyboard alone", async ({ signUp }) => {
  const [alice] = await busy(signUp);
  const page = await alice.open();
  const like = page.getByRole("button", { name: "Like" });
  await like.waitFor();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(async () => {
    await page.keyboard.press("Tab");
    await expect(like).toBeFocused({ timeout: 50 });
  }).toPass();
  await page.keyboard.press("Space");
  await expect(like).toHaveAttribute("aria-pressed", "true");
});
