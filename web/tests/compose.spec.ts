import { card, expect, test } from "./support/perch.ts";

test("a draft survives a closed dialog, a reload and a lost network, and is sent once", async ({
  signUp,
}) => {
  const alice = await signUp("Alice");
  const page = await alice.open();
  const write = () => page.getByRole("button", { name: "Post", exact: true }).first().click();
  const text = page.getByLabel("Your text");
  const send = page.getByRole("dialog").getByRole("button", { name: "Post" });
  await write();
  await text.fill("Half a thought");
  await page.keyboard.press("Escape");
  await page.reload();
  await write();
  await expect(text).toHaveValue("Half a thought");
  await page.context().setOffline(true);
  await send.click();
  await expect(page.getByRole("alert")).toHaveText("No connection. What you wrote is kept.");
  await page.context().setOffline(false);
  await send.click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(card(page, "Half a thought")).toHaveCount(1);
  await write();
  await expect(text).toHaveValue("");
});

test("a lost answer does not post twice", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const page = await alice.open();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").fill("Only once");
  let isLost = false;
  await page.route("**/graphql", async (route) => {
    if (isLost || !route.request().postData()?.includes("mutation Post")) return route.continue();
    isLost = true;
    await route.fetch();
    await route.abort();
  });
  const send = page.getByRole("dialog").getByRole("button", { name: "Post" });
  await send.click();
  await expect(page.getByRole("alert")).toBeVisible();
  await send.click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.goto(`/@${alice.login}`);
  await expect(card(page, "Only once")).toHaveCount(1);
});

test("a mention is completed by keyboard", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").pressSequentially(`Hello @${bob.login.slice(0, -1)}`);
  await expect(page.getByRole("option", { name: bob.login })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Your text")).toHaveValue(`Hello @${bob.login} `);
  await page.keyboard.press("Control+Enter");
  await expect(card(page, "Hello").getByRole("link", { name: `@${bob.login}` })).toBeVisible();
});

test("a reply and a quote name what they are about", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const id = await bob.post("What is your favourite bird?");
  const page = await alice.open(`/posts/${id}`);
  await page.getByRole("button", { name: "Reply" }).click();
  await expect(page.getByRole("heading", { name: "Reply to Bob" })).toBeVisible();
  await page.getByLabel("Your text").fill("The wren, of course");
  await page.keyboard.press("Control+Enter");
  await expect(card(page, "The wren, of course")).toBeVisible();
  await expect(page.getByRole("button", { name: "Reply, 1 reply" })).toBeVisible();
  await card(page, "favourite bird").first().getByRole("button", { name: "More about this post" }).click();
  await page.getByRole("menuitem", { name: "Quote" }).click();
  await page.getByLabel("Your text").fill("A question for everybody");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.goto(`/@${alice.login}`);
  await expect(card(page, "A question for everybody")).toContainText("What is your favourite bird?");
});

test("a text that is too long cannot be sent", async ({ signUp }) => {
  const page = await (await signUp("Alice")).open();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").fill("🐦".repeat(501));
  await expect(page.getByText("1 character too many")).toBeVisible();
  await expect(page.getByRole("dialog").getByRole("button", { name: "Post" })).toBeDisabled();
});

test("a member deletes their post after a question", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("A mistake");
  const page = await alice.open();
  await card(page, "A mistake").getByRole("button", { name: "More about this post" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(card(page, "A mistake")).toHaveCount(0);
  await page.reload();
  await expect(page.getByText("Your home is quiet.")).toBeVisible();
});
