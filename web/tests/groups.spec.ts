import { card, expect, live, type Member, test } from "./support/perch.ts";

/** Creates a group through the API, and returns its id. */
async function group(owner: Member, name: string, kind: string, ...invited: Member[]): Promise<string> {
  const create = `mutation Create($input: CreateGroupInput!) { createGroup(input: $input) { group { id } } }`;
  const input = { name, kind, description: `About ${name}` };
  const { createGroup } = await owner.ask<{ createGroup: { group: { id: string } } }>(create, { input });
  const { id } = createGroup.group;
  const invite = `mutation Invite($input: GroupUsersInput!) { inviteToGroup(input: $input) { userErrors { code } } }`;
  const userIds = invited.map((member) => member.id);
  if (userIds.length > 0) await owner.ask(invite, { input: { groupId: id, userIds } });
  return id;
}

test("a member creates a group and posts in it, and another one joins and reads live", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const name = `Dippers ${alice.login}`;
  const page = await alice.open("/groups");
  await page.getByRole("link", { name: "New group" }).click();
  await page.getByLabel("Name").fill(name);
  await page.reload();
  await expect(page.getByLabel("Name")).toHaveValue(name); // nothing typed is lost
  await page.getByLabel("Description").fill("Birds that walk under water");
  await page.getByRole("button", { name: "Create group" }).click();
  await expect(page.getByRole("heading", { name })).toBeVisible();
  const path = new URL(page.url()).pathname;
  const other = await bob.open(path);
  await expect(other.getByText("Birds that walk under water")).toBeVisible();
  await expect(other.getByRole("button", { name: "Post in this group" })).toBeHidden();
  await other.getByRole("button", { name: "Join" }).click();
  await expect(other.getByRole("button", { name: "Post in this group" })).toBeVisible();
  await live(other);
  await page.getByRole("button", { name: "Post in this group" }).click();
  await expect(page.getByRole("heading", { name: `Post in ${name}` })).toBeVisible();
  await page.getByLabel("Your text").fill("One went under at the weir");
  await page.keyboard.press("Control+Enter");
  await expect(card(page, "at the weir")).toBeVisible();
  await other.getByRole("button", { name: "Show 1 new post" }).click();
  await expect(card(other, "at the weir")).toBeVisible();
  await other.getByRole("button", { name: "Leave" }).click();
  await other.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
  await expect(other.getByRole("button", { name: "Join" })).toBeVisible();
});

test("a private group shows nothing until a moderator lets the member in", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const id = await group(alice, "Secret nests", "PRIVATE");
  const other = await bob.open(`/groups/${id}`);
  await expect(other.getByText("Only members see what is in this group.")).toBeVisible();
  await other.getByRole("button", { name: "Ask to join" }).click();
  await expect(other.getByRole("button", { name: "Asked to join" })).toBeVisible();
  const page = await alice.open(`/groups/${id}/members`);
  await page.getByRole("button", { name: "Approve: Bob" }).click();
  await expect(page.getByText("Nobody is waiting.")).toBeVisible();
  await expect(page.getByRole("heading", { name: "2 members", exact: true })).toBeVisible();
  await other.reload();
  await expect(other.getByText("About Secret nests")).toBeVisible();
  await expect(other.getByRole("button", { name: "Post in this group" })).toBeVisible();
});

test("a member is invited, joins from the notification, becomes moderator and deletes a post", async ({
  signUp,
}) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const id = await group(alice, "Owl watch", "PRIVATE");
  const query = "mutation Post($input: PostInput!) { post(input: $input) { status { id } } }";
  await alice.ask(query, { input: { text: "Off topic", groupId: id } });
  const page = await alice.open(`/groups/${id}/members`);
  await page.getByRole("combobox", { name: "Invite members" }).pressSequentially(bob.login);
  await expect(page.getByRole("option", { name: bob.login })).toBeVisible();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByText("1 member invited.")).toBeVisible();
  const other = await bob.open("/notifications");
  await expect(other.getByText("invites you to Owl watch")).toBeVisible();
  await other.getByRole("button", { name: "Join: Owl watch" }).click();
  await expect(card(other, "Off topic")).toBeVisible();
  await page.reload();
  await page.getByRole("button", { name: "More about Bob" }).click();
  await page.getByRole("menuitem", { name: "Make moderator" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Bob" })).toContainText("Moderator");
  await other.reload();
  await card(other, "Off topic").getByRole("button", { name: "More about this post" }).click();
  await other.getByRole("menuitem", { name: "Delete" }).click();
  await other.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(card(other, "Off topic")).toHaveCount(0);
});

test("an owner changes a group, removes a member and deletes it", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const id = await group(alice, "Gulls", "PUBLIC");
  await bob.ask(`mutation { joinGroup(input: { groupId: "${id}" }) { userErrors { code } } }`);
  const page = await alice.open(`/groups/${id}`);
  await page.getByRole("link", { name: "Change group" }).click();
  await page.getByLabel("Name").fill("Gulls and terns");
  await page.getByRole("radio", { name: /Announcements/ }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "Gulls and terns" })).toBeVisible();
  await page.getByRole("link", { name: "2 members" }).click();
  await page.getByRole("button", { name: "More about Bob" }).click();
  await page.getByRole("menuitem", { name: "Remove from the group" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove from the group" }).click();
  await expect(page.getByRole("heading", { name: "1 member", exact: true })).toBeVisible();
  await page.goto(`/groups/${id}/edit`);
  await page.getByRole("button", { name: "Delete group" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete group" }).click();
  await expect(page.getByText("You are in no group yet.")).toBeVisible();
  const other = await bob.open(`/groups/${id}/edit`);
  await expect(other.getByRole("heading", { name: "There is nothing here." })).toBeVisible();
});

test("the only owner cannot leave, and is told so", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const id = await group(alice, "Alone", "PUBLIC");
  const page = await alice.open(`/groups/${id}`);
  await page.getByRole("button", { name: "Leave" }).click();
  await expect(page.getByText("make another member owner first")).toBeVisible();
  await page.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("alert")).toHaveText("You may not do this.");
});
