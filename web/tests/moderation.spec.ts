import { card, expect, test } from "./support/perch.ts";

test("a reported post is deleted by a moderator, and the reporter hears of the decision", async ({
  page,
  signUp,
}) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.follow(bob);
  await bob.post("Buy my cheap binoculars");
  const reporting = await alice.open();
  await card(reporting, "binoculars").getByRole("button", { name: "More about this post" }).click();
  await reporting.getByRole("menuitem", { name: "Report" }).click();
  await reporting.getByLabel("What should they know?").fill("Third time today");
  await reporting.getByRole("button", { name: "Send report" }).click();
  await expect(reporting.getByText("Thank you.")).toBeVisible();
  await reporting.getByRole("button", { name: "Close" }).click();

  await page.goto("/login");
  await page.getByLabel("Login or e-mail address").fill("nightowl"); // the demo's moderator
  await page.getByLabel("Password").fill("birds of a feather");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "Moderation" }).click();
  const report = page.getByRole("listitem").filter({ hasText: "Third time today" });
  await expect(report).toContainText("Buy my cheap binoculars");
  await report.getByRole("button", { name: "Delete the content" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete the content" }).click();
  await expect(report).toHaveCount(0);

  await expect(card(reporting, "binoculars")).toHaveCount(0);
  await reporting.getByRole("link", { name: /Notifications/ }).click();
  await expect(reporting.getByText("Your report was decided.")).toBeVisible();
});

test("nobody but moderators finds the queue", async ({ signUp }) => {
  const page = await (await signUp("Alice")).open("/moderation");
  await expect(page.getByRole("heading", { name: "There is nothing here." })).toBeVisible();
  await expect(page.getByRole("link", { name: "Moderation" })).toHaveCount(0);
});
