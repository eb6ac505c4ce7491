import type { Page } from "@playwright/test";
import { expect, type Member, PASSWORD, test } from "./support/perch.ts";
import { totp } from "./support/totp.ts";

/** Returns a part of the account screen. */
const part = (page: Page, name: string) => page.getByRole("region", { name });

async function logIn(page: Page, { login }: Member, password: string): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Login or e-mail address").fill(login);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

const VERIFY = "mutation Verify($input: TokenInput!) { verifyEmail(input: $input) { userErrors { code } } }";

test("a member turns the second factor on, logs in with it, and turns it off", async ({
  page,
  server,
  signUp,
}) => {
  const alice = await signUp("Alice");
  await alice.ask(VERIFY, { input: { token: await server.mailedToken(`${alice.login}@example.org`) } });
  const hers = await alice.open("/settings/account");
  const factor = part(hers, "Second factor");
  await factor.getByLabel("Your password").fill("not the password at all");
  await factor.getByRole("button", { name: "Set up" }).click();
  await expect(factor.getByRole("alert")).toHaveText("This is not your password.");
  await factor.getByLabel("Your password").fill(PASSWORD);
  await factor.getByRole("button", { name: "Set up" }).click();
  await expect(factor.getByRole("img", { name: "QR code of the secret" })).toBeVisible();
  const secret = (await factor.locator("code").textContent()) ?? "";
  await expect(factor.getByRole("link")).toHaveAttribute("href", new RegExp(`^otpauth:.*secret=${secret}`));
  const wrong = totp(secret) === "000000" ? "111111" : "000000";
  await factor.getByLabel("Six digits").fill(wrong);
  await factor.getByRole("button", { name: "Turn on" }).click();
  await expect(factor.getByRole("alert")).toHaveText("This code is wrong, or was used before.");
  await factor.getByLabel("Six digits").fill(totp(secret));
  await factor.getByRole("button", { name: "Turn on" }).click();
  await expect(factor.getByRole("listitem")).toHaveCount(10);
  const codes = await factor.getByRole("listitem").allInnerTexts();
  await factor.getByRole("button", { name: "I have kept them" }).click();
  await expect(factor.getByText("You have 10 recovery codes left.")).toBeVisible();

  await logIn(page, alice, PASSWORD);
  await page.getByLabel("Code of your authenticator app").fill(codes[0] as string);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Home" })).toBeVisible();

  await hers.reload();
  await factor.getByLabel("Your password").fill(PASSWORD);
  await factor.getByLabel("Code of your authenticator app").fill(codes[1] as string);
  await factor.getByRole("button", { name: "Turn off" }).click();
  await expect(factor.getByRole("button", { name: "Set up" })).toBeVisible();
});

test("a new password ends other sessions, and this one goes on", async ({ page, signUp }) => {
  const alice = await signUp("Alice");
  await logIn(page, alice, PASSWORD);
  await expect(page.getByRole("heading", { name: "Home" })).toBeVisible();
  const hers = await alice.open("/settings/account");
  const password = part(hers, "Password");
  await password.getByLabel("Your password").fill(PASSWORD);
  await password.getByLabel("New password").fill("short");
  await password.getByRole("button", { name: "Change password" }).click();
  await expect(password.getByLabel("New password")).toHaveAccessibleDescription(/less common password/);
  await password.getByLabel("New password").fill("nine ospreys over the loch");
  await password.getByRole("button", { name: "Change password" }).click();
  await expect(password.getByText("Your password is changed.")).toBeVisible();
  await expect(page.getByRole("link", { name: "Log in" }).first()).toBeVisible();
  await hers.goto("/");
  await expect(hers.getByRole("heading", { name: "Home" })).toBeVisible();
  await logIn(page, alice, "nine ospreys over the loch");
  await expect(page.getByRole("heading", { name: "Home" })).toBeVisible();
});

test("a new e-mail address is asked for, and one that is taken or malformed is refused", async ({
  signUp,
}) => {
  const alice = await signUp("Alice");
  const page = await alice.open("/settings/account");
  const email = part(page, "E-mail address");
  await expect(email.getByText(`${alice.login}@example.org`)).toBeVisible();
  await email.getByRole("button", { name: "Send the link again" }).click();
  await expect(email.getByText("The link is on its way.")).toBeVisible();
  await email.getByLabel("New e-mail address").fill("no@address");
  await email.getByLabel("Your password").fill(PASSWORD);
  await email.getByRole("button", { name: "Change address" }).click();
  await expect(email.getByLabel("New e-mail address")).toHaveAccessibleDescription(/.+/);
  await email.getByLabel("New e-mail address").fill(`new_${alice.login}@example.org`);
  await email.getByRole("button", { name: "Change address" }).click();
  await expect(email.getByText(`We sent a link to new_${alice.login}@example.org.`)).toBeVisible();
});

test("a member downloads their data and then deletes the account", async ({ page, signUp }) => {
  const alice = await signUp("Alice");
  const hers = await alice.open("/settings/account");
  const data = part(hers, "Your data");
  await data.getByLabel("Your password").fill(PASSWORD);
  await data.getByRole("button", { name: "Prepare the file" }).click();
  const downloading = hers.waitForEvent("download");
  await data.getByRole("link", { name: "Download" }).click();
  expect(await (await downloading).failure()).toBeNull();
  await expect(data.getByRole("button", { name: "Prepare the file" })).toBeVisible();

  const deletion = part(hers, "Delete your account");
  const erase = async (answer: string) => {
    await deletion.getByLabel("Your password").fill(PASSWORD);
    await deletion.getByRole("button", { name: "Delete account" }).click();
    await hers.getByRole("alertdialog").getByRole("button", { name: answer }).click();
  };
  await erase("Cancel");
  await expect(hers.getByRole("alertdialog")).toBeHidden();
  await erase("Delete account");
  await expect(hers.getByRole("link", { name: "Log in" }).first()).toBeVisible();
  await logIn(page, alice, PASSWORD);
  await expect(page.getByRole("alert")).toHaveText("Login or password is wrong.");
});

test("a member says who may write to them, and takes a block back", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.ask(`mutation { block(input: { userIds: ["${bob.id}"] }) { userErrors { code } } }`);
  const page = await alice.open("/settings");
  await page.getByLabel("Who may begin a conversation").selectOption("Nobody");
  await expect(page.getByText("Saved.")).toBeVisible();
  await page.getByRole("link", { name: "Blocked members" }).click();
  await page.getByRole("button", { name: "Unblock: Bob" }).click();
  await expect(page.getByText("Nobody is in this list.")).toBeVisible();
  const his = await bob.open(`/messages/new/${alice.login}`);
  await his.getByLabel("Your message").fill("Hello?");
  await his.getByRole("button", { name: "Send" }).click();
  await expect(his.getByRole("alert")).toHaveText("You may not do this.");
});
