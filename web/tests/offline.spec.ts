import type { Page } from "@playwright/test";
import { card, expect, live, test } from "./support/perch.ts";

/** Returns what the browser keeps of what a member has read. */
async function kept(page: Page, member: string): Promise<string[]> {
  return page.evaluate(
    (name) =>
      new Promise<string[]>((resolve) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => {
          const { result } = opening;
          const store = result.objectStoreNames[0];
          if (!store) return resolve([]);
          const reading = result.transaction(store).objectStore(store).getAll();
          reading.onsuccess = () => resolve(reading.result.map(({ entry }) => entry));
        };
      }),
    `perch-${member}`,
  );
}

test("what was read stays without a network, also after a reload", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  const id = await bob.post("To be read on a train");
  const page = await alice.open();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await card(page, "on a train")
    .getByRole("link", { name: /ago|now/ })
    .click();
  await expect(page.getByRole("heading", { name: "Post" })).toBeVisible();
  // The cache is written after the page is shown.
  await expect.poll(async () => (await kept(page, alice.id)).join()).toContain("on a train");
  await page.context().setOffline(true);
  await page.goto("/");
  await expect(page.getByText("No connection. You see what was read before.")).toBeVisible();
  await expect(card(page, "on a train")).toBeVisible();
  await page.goto(`/posts/${id}`);
  await expect(card(page, "on a train")).toBeVisible();
});

test("a like that was given without a network is sent when it is back", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  const id = await bob.post("Like me later");
  const page = await alice.open();
  await live(page);
  const like = card(page, "Like me later").getByRole("button", { name: "Like" });
  await like.waitFor();
  await page.context().setOffline(true);
  await like.click();
  await expect(like).toHaveAttribute("aria-pressed", "true");
  await page.context().setOffline(false);
  const query = "query Likes($id: ID!) { node(id: $id) { ... on Post { likeCount } } }";
  await expect(async () => {
    expect(await bob.ask(query, { id })).toEqual({ node: { likeCount: 1 } });
  }).toPass({ timeout: 10_000 });
  await expect(like).toHaveAccessibleName("Like, 1 like");
});

test("log-out deletes what was read", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("Nobody else's business");
  const page = await alice.open();
  await expect(card(page, "business")).toBeVisible();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page.getByRole("link", { name: "Log in" }).first()).toBeVisible();
  expect(await kept(page, alice.id)).toEqual([]);
});
