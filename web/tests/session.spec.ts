import { expect, live, PASSWORD, test } from "./support/perch.ts";

test("a stranger signs up, logs out and logs in again", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByText("A calm place to say things.")).toBeVisible();
  await page.getByRole("link", { name: "Sign up" }).first().click();
  await page.getByLabel("Name").fill("Wren");
  await page.getByLabel("Login").fill("wren");
  await page.getByLabel("E-mail address").fill("wren@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByText("Your home is quiet.")).toBeVisible();
  await page.goto("/settings");
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page).toHaveURL(/\/login$/);
  await page.getByLabel("Login or e-mail address").fill("wren");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Home" })).toBeVisible();
});

test("a refusal names its field and keeps what was typed", async ({ page, signUp }) => {
  const alice = await signUp("Alice");
  await page.goto("/signup");
  await page.getByLabel("Name").fill("Another Alice");
  await page.getByLabel("Login").fill(alice.login);
  await page.getByLabel("E-mail address").fill("another@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByLabel("Login")).toHaveAccessibleDescription(/Another member has this already/);
  await expect(page.getByLabel("Name")).toHaveValue("Another Alice");
});

test("a wrong password opens no session", async ({ page, signUp }) => {
  const alice = await signUp("Alice");
  await page.goto("/login");
  await page.getByLabel("Login or e-mail address").fill(alice.login);
  await page.getByLabel("Password").fill("not the password at all");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toHaveText("Login or password is wrong.");
});

test("an expired token is refreshed once, also when two tabs need it at once", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("Still here");
  const first = await alice.open("/robots.txt"); // it asks nothing by itself
  await first.evaluate(() => {
    const session = JSON.parse(localStorage.getItem("perch.session") as string);
    localStorage.setItem(
      "perch.session",
      JSON.stringify({ ...session, accessToken: "worn", expiresAt: "2020-01-01" }),
    );
  });
  let refreshes = 0;
  await first.context().route("**/graphql", (route) => {
    if (route.request().postData()?.includes("refreshSession")) refreshes += 1;
    return route.continue();
  });
  const second = await first.context().newPage();
  await Promise.all([first.goto("/"), second.goto("/")]);
  for (const page of [first, second]) await expect(page.getByText("Still here")).toBeVisible();
  expect(refreshes).toBe(1);
});

test("a token that the server refuses is replaced during use", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const page = await alice.open();
  await live(page);
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem("perch.session") as string);
    localStorage.setItem("perch.session", JSON.stringify({ ...session, accessToken: "worn" }));
  });
  await page.getByRole("link", { name: "Explore" }).click();
  await expect(page.getByRole("heading", { name: "Trends" })).toBeVisible();
  await expect(page.getByRole("article").first()).toBeVisible();
});

test("a session that ends elsewhere ends here too", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const page = await alice.open();
  await live(page);
  await alice.ask("mutation { logOut(input: { everywhere: true }) { userErrors { code } } }");
  await expect(page.getByRole("link", { name: "Log in" })).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem("perch.session"))).toBeNull();
});
