import { expect, live, test } from "./support/perch.ts";

test("two members talk live, and what is on the screen is read", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const [hers, his] = [await alice.open(`/@${bob.login}`), await bob.open()];
  await live(his);
  await hers.getByRole("button", { name: "More about this member" }).click();
  await hers.getByRole("menuitem", { name: "Send a message" }).click();
  await hers.getByLabel("Your message").fill("Have you seen the heron?");
  await hers.keyboard.press("Enter");
  await expect(hers.getByRole("listitem").filter({ hasText: "heron" })).toBeVisible();
  await his.getByRole("link", { name: "Messages 1 unread" }).click();
  await his.getByRole("link", { name: /Alice/ }).click();
  await expect(his.getByText("Have you seen the heron?")).toBeVisible();
  await expect(his.getByRole("link", { name: "Messages", exact: true })).toBeVisible();
  await his.getByLabel("Your message").fill("By the pond, all morning.");
  await his.getByRole("button", { name: "Send" }).click();
  await expect(hers.getByText("By the pond, all morning.")).toBeVisible();
  await his.getByRole("button", { name: "Delete message" }).click();
  await his.getByRole("alertdialog").getByRole("button", { name: "Delete message" }).click();
  await expect(hers.getByText("By the pond, all morning.")).toBeHidden();
});

test("a message that could not be sent stays in its field, also after a reload", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open(`/messages/new/${bob.login}`);
  const field = page.getByLabel("Your message");
  await field.fill("Are you there?");
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("alert")).toHaveText("No connection. What you wrote is kept.");
  await page.context().setOffline(false);
  await page.reload();
  await expect(field).toHaveValue("Are you there?");
});

test("a member who leaves a conversation finds it no more", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open(`/messages/new/${bob.login}`);
  await page.getByLabel("Your message").fill("Goodbye");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByText("No conversations yet.")).toBeVisible();
});

test("a conversation of several begins from the inbox, and leads to one with more members", async ({
  signUp,
}) => {
  const [alice, bob, carol] = [await signUp("Alice"), await signUp("Bob"), await signUp("Carol")];
  const page = await alice.open("/messages");
  const add = async (login: string) => {
    await page.getByRole("combobox", { name: "Add members" }).pressSequentially(login);
    await expect(page.getByRole("option", { name: login })).toBeVisible();
    await page.keyboard.press("Enter");
  };
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByLabel("Your message").fill("Who is out tomorrow?");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("alert")).toHaveText("Please choose at least one member.");
  await add(bob.login);
  await page.reload();
  await expect(page.getByRole("button", { name: "Remove Bob" })).toBeVisible(); // nothing chosen is lost
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("heading", { name: "Bob", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "New conversation with more members" }).click();
  await add(carol.login);
  await page.getByLabel("Your message").fill("All three of us?");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Bob and Carol" })).toBeVisible();
  const other = await carol.open("/messages");
  await other.getByRole("link", { name: /Alice and Bob/ }).click();
  await expect(other.getByText("All three of us?")).toBeVisible();
  await expect(other.getByText("Who is out tomorrow?")).toBeHidden();
});
