import { card, expect, live, test } from "./support/perch.ts";

test("two browsers talk live, and nothing moves until it is asked for", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("The first one");
  const [reading, writing] = [await alice.open(), await bob.open()];
  await expect(card(reading, "The first one")).toBeVisible();
  await live(reading);
  await writing.getByRole("button", { name: "Post", exact: true }).click();
  await writing.getByLabel("Your text").fill("Three kingfishers!");
  await writing.getByRole("dialog").getByRole("button", { name: "Post" }).click();
  await expect(card(writing, "Three kingfishers!")).toBeVisible();
  await reading.getByRole("button", { name: "Show 1 new post" }).click();
  await expect(reading.getByRole("article").first()).toContainText("Three kingfishers!");
  await expect(reading.getByRole("button", { name: /new post/ })).toBeHidden();
  await card(reading, "Three kingfishers!").getByRole("button", { name: "Like" }).click();
  await writing.getByRole("link", { name: /Notifications/ }).click();
  await expect(writing.getByText("likes your post")).toBeVisible();
});

test("reposts of one post are one entry that names the reposters", async ({ signUp }) => {
  const [alice, bob, carol] = [await signUp("Alice"), await signUp("Bob"), await signUp("Carol")];
  await alice.follow(bob, carol);
  const writer = await signUp("Wanda");
  const id = await writer.post("Pass it on");
  for (const member of [bob, carol]) {
    await member.ask("mutation Repost($id: ID!) { repost(input: { postId: $id }) { userErrors { code } } }", {
      id,
    });
  }
  const page = await alice.open();
  await expect(page.getByText("Bob, Carol reposted")).toBeVisible();
  await expect(card(page, "Pass it on")).toHaveCount(1);
});

test("a like shows within 50 ms, however slow the network is", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("Like me");
  const page = await alice.open();
  const like = card(page, "Like me").getByRole("button", { name: "Like" });
  await like.waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/graphql", async (route) => {
    if (route.request().postData()?.includes("mutation Like")) await held;
    await route.continue();
  });
  const took = await like.evaluate(async (button: HTMLButtonElement) => {
    const begin = performance.now();
    button.click();
    while (button.getAttribute("aria-pressed") !== "true") await new Promise(requestAnimationFrame);
    return performance.now() - begin;
  });
  expect(took).toBeLessThan(50);
  release();
  await expect(like).toHaveAccessibleName("Like, 1 like");
});

test("pages follow each other, and the back button finds the place", async ({ signUp }) => {
  const alice = await signUp("Alice");
  for (let number = 1; number <= 45; number += 1) await alice.post(`Number ${number} of many`);
  const page = await alice.open();
  await expect(card(page, "Number 45 of many")).toBeVisible();
  await expect(async () => {
    await page.mouse.wheel(0, 3000);
    await expect(card(page, "Number 3 of many")).toBeVisible({ timeout: 100 });
  }).toPass();
  await expect(page.getByRole("article")).toHaveCount(45);
  await card(page, "Number 3 of many")
    .getByRole("link", { name: /ago|now/ })
    .click();
  await expect(page.getByRole("heading", { name: "Post" })).toBeVisible();
  await page.goBack();
  await expect(card(page, "Number 3 of many")).toBeInViewport();
});

test("a server that restarts is found again, and nothing is missed", async ({ server, signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("Before it stopped");
  const page = await alice.open();
  await live(page);
  await expect(card(page, "Before it stopped")).toBeVisible();
  await server.stop();
  await expect(page.getByText("Connecting…")).toBeVisible();
  await server.start();
  await bob.post("While you were away");
  await page.getByRole("button", { name: "Show 1 new post" }).click({ timeout: 20_000 });
  await expect(card(page, "While you were away")).toBeVisible();
});

test("the home is asked for once, while the client is still loading", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("Good morning");
  const page = await alice.open("about:blank");
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.postData()?.includes("query Home")) asked.push(`${request.method()} early`);
    if (request.url().endsWith("/graphql") && asked.length === 0) asked.push("something else first");
  });
  await page.goto("/");
  await expect(card(page, "Good morning")).toBeVisible();
  await live(page);
  expect(asked[0]).toBe("POST early");
  expect(await page.evaluate(() => window.perchEarly?.answers.size)).toBe(0);
});
