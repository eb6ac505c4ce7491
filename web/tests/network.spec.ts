import type { Page } from "@playwright/test";
import { card, expect, live, test } from "./support/perch.ts";

const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 }; // ms, bytes/s

/** Makes the network of a page as slow as in a train. */
async function slowDown(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.enable");
  await browser.send("Network.emulateNetworkConditions", SLOW);
}

test("on a slow network the page says that it waits, and a post is sent once", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("Slow but steady");
  const page = await alice.open("/settings");
  await slowDown(page);
  await page.getByRole("link", { name: "Home" }).click();
  await expect(page.getByText("Loading…")).toBeVisible();
  await expect(card(page, "Slow but steady")).toBeVisible();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").fill("Written in a tunnel");
  const send = page.getByRole("dialog").getByRole("button", { name: /Post|Sending/ });
  await send.click();
  await expect(send).toHaveText("Sending…");
  await expect(send).toBeDisabled();
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(card(page, "Written in a tunnel")).toHaveCount(1);
});

test("a page that the network loses in the middle is asked for again", async ({ signUp }) => {
  const alice = await signUp("Alice");
  for (let number = 1; number <= 25; number += 1) await alice.post(`Number ${number} of many`);
  const page = await alice.open("/robots.txt"); // it asks nothing by itself
  let isLost = true;
  await page.route("**/graphql", (route) =>
    isLost && route.request().postDataJSON()?.variables?.after ? route.abort() : route.continue(),
  );
  await page.goto(`/@${alice.login}`);
  await expect(card(page, "Number 25 of many")).toBeVisible();
  await page.mouse.wheel(0, 9000);
  await expect(page.getByRole("alert")).toContainText("This did not load.");
  isLost = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(async () => {
    await page.mouse.wheel(0, 9000);
    await expect(page.getByRole("article")).toHaveCount(25, { timeout: 100 });
  }).toPass();
});

test("a token that expires while the network is lost is replaced when it is back", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("Before the tunnel");
  const page = await alice.open();
  await expect(card(page, "Before the tunnel")).toBeVisible();
  await live(page);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.context().setOffline(true);
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem("perch.session") as string);
    const worn = { ...session, accessToken: "worn", expiresAt: "2020-01-01" };
    localStorage.setItem("perch.session", JSON.stringify(worn));
  });
  await page.getByRole("link", { name: "Groups" }).click();
  await expect(page.getByRole("alert").first()).toContainText("This did not load.");
  await page.context().setOffline(false);
  await bob.post("After the tunnel");
  await page.getByRole("link", { name: "Home" }).click();
  await expect(
    card(page, "After the tunnel").or(page.getByRole("button", { name: /new post/ })),
  ).toBeVisible();
  await live(page);
  const kept = await page.evaluate(() => JSON.parse(localStorage.getItem("perch.session") as string));
  expect(kept.accessToken).not.toBe("worn");
});

test("a server that restarts loses no message of a conversation, and sends none twice", async ({
  server,
  signUp,
}) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open(`/messages/new/${bob.login}`);
  await page.getByLabel("Your message").fill("Still there?");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Bob", exact: true })).toBeVisible();
  const his = await bob.open(new URL(page.url()).pathname);
  await expect(his.getByText("Still there?")).toBeVisible();
  await server.stop();
  await page.getByLabel("Your message").fill("One moment");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("alert")).toHaveText("No connection. What you wrote is kept.");
  await server.start();
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByLabel("Your message")).toHaveValue("");
  await expect(page.getByText("One moment")).toHaveCount(1);
  await expect(his.getByText("One moment")).toHaveCount(1, { timeout: 20_000 });
});
