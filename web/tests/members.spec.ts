import { card, expect, live, test } from "./support/perch.ts";

test("a private member lets a follower in", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open("/settings");
  await page.getByLabel("Only approved followers see my posts").check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  await alice.post("For friends only");
  const other = await bob.open(`/@${alice.login}`);
  await expect(other.getByText("Only approved followers see these posts.")).toBeVisible();
  await other.getByRole("button", { name: "Ask to follow" }).click();
  await expect(other.getByRole("button", { name: "Requested" })).toBeVisible();
  await page
    .getByRole("link", { name: "Notifications, 1 unread" })
    .or(page.getByRole("link", { name: /Notifications/ }))
    .click();
  await page.getByRole("link", { name: "See follow requests" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("Nobody is waiting.")).toBeVisible();
  await other.reload();
  await expect(card(other, "For friends only")).toBeVisible();
});

test("a member unfollows at once, blocks after a question, and takes it back", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("Loud opinions");
  const page = await alice.open(`/@${bob.login}`);
  await page.getByRole("button", { name: "Following" }).click();
  await expect(page.getByRole("button", { name: "Follow: Bob" })).toBeVisible();
  await page.getByRole("button", { name: "More about this member" }).click();
  await page.getByRole("menuitem", { name: "Mute" }).click();
  await expect(page.getByText("Muted")).toBeVisible();
  await page.getByRole("button", { name: "More about this member" }).click();
  await page.getByRole("menuitem", { name: "Block" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Block" }).click();
  await expect(page.getByText("You block this member.")).toBeVisible();
  await expect(card(page, "Loud opinions")).toHaveCount(0);
  await page.getByRole("button", { name: "Unblock" }).click();
  await expect(card(page, "Loud opinions")).toBeVisible();
});

test("notifications arrive live, and leaving the screen reads them", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const page = await alice.open();
  await live(page);
  await bob.follow(alice);
  await page.getByRole("link", { name: "Notifications 1 unread" }).click();
  await expect(page.getByText("follows you")).toBeVisible();
  await bob.post(`Hello @${alice.login}`);
  await expect(page.getByText("mentioned you")).toBeVisible();
  await page.getByRole("link", { name: "Home" }).click();
  await expect(page.getByRole("link", { name: "Notifications", exact: true })).toBeVisible();
});

test("a member is found by the beginning of their name", async ({ page, signUp }) => {
  const bob = await signUp("Bob");
  await page.goto("/explore");
  await page.getByRole("combobox", { name: "Search members" }).pressSequentially(bob.login);
  await expect(page.getByRole("option", { name: bob.login })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`@${bob.login}$`));
});

test("the language and the colours are chosen in the settings, and stay", async ({ signUp }) => {
  const page = await (await signUp("Alice")).open("/settings");
  await page.getByLabel("Appearance").selectOption("dark");
  await page.getByLabel("Language").selectOption("Deutsch");
  await expect(page.getByRole("heading", { name: "Einstellungen" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("link", { name: "Neuigkeiten" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await expect(page.locator("html")).toHaveCSS("color-scheme", "dark");
});
