import { card, expect, live, test } from "./support/perch.ts";

test("two members comment live, answer each other, and the author deletes", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const id = await alice.post("Which owl is this?");
  const [hers, his] = [await alice.open(`/posts/${id}`), await bob.open(`/posts/${id}`)];
  await expect(hers.getByText("No comment yet.")).toBeVisible();
  await live(hers);
  await his.getByLabel("Your comment").fill("A tawny one");
  await his.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(his.getByLabel("Your comment")).toHaveValue("");
  await expect(hers.getByRole("heading", { name: "1 comment" })).toBeVisible();
  await expect(hers.getByText("A tawny one")).toBeVisible();
  await hers.getByRole("button", { name: "Answer Bob" }).click();
  await hers.getByRole("textbox", { name: "Answer Bob" }).fill("Are you sure?");
  await hers.keyboard.press("Control+Enter");
  await expect(his.getByText("In reply to Bob")).toBeVisible();
  await expect(his.getByRole("button", { name: "Delete comment" })).toHaveCount(1); // his own
  await hers.getByRole("button", { name: "Delete comment" }).last().click();
  await hers.getByRole("alertdialog").getByRole("button", { name: "Delete comment" }).click();
  await expect(his.getByText("A tawny one")).toBeHidden();
});

test("a comment that could not be sent stays in its field, and a stranger reads only", async ({
  page,
  signUp,
}) => {
  const alice = await signUp("Alice");
  const id = await alice.post("Say something");
  const hers = await alice.open(`/posts/${id}`);
  await hers.getByLabel("Your comment").fill("Almost lost");
  await hers.context().setOffline(true);
  await hers.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(hers.getByRole("alert")).toHaveText("No connection. What you wrote is kept.");
  await hers.context().setOffline(false);
  await hers.reload();
  await expect(hers.getByLabel("Your comment")).toHaveValue("Almost lost");
  await hers.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(hers.getByRole("heading", { name: "1 comment" })).toBeVisible();
  await page.goto(`/posts/${id}`);
  await expect(page.getByText("Almost lost")).toBeVisible();
  await expect(page.getByRole("link", { name: "Log in to comment" })).toBeVisible();
});

test("a member pins a post to their profile, hides it, and shows it again", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  await alice.post("My best photograph");
  const page = await alice.open(`/@${alice.login}`);
  const choose = async (name: string) => {
    await card(page, "photograph").last().getByRole("button", { name: "More about this post" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await choose("Pin to profile");
  await expect(page.getByRole("region", { name: "Pinned" })).toContainText("My best photograph");
  await choose("Hide");
  await expect(card(page, "photograph").last()).toContainText("Hidden");
  const other = await bob.open(`/@${alice.login}`);
  await expect(other.getByText("Nothing here yet.")).toBeVisible();
  await choose("Show again");
  await expect(card(page, "photograph").last()).not.toContainText("Hidden");
  await other.reload();
  await expect(card(other, "photograph").last()).toBeVisible();
});
