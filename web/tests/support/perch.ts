import { type Browser, test as base, expect, type Page } from "@playwright/test";
import { ADDRESS, Server } from "./server.ts";

export { expect };

export const PASSWORD = "seven herons on one leg";

let members = 0;

/** A member of this test alone, who acts through the API or in a browser of their own. */
export interface Member {
  id: string;
  login: string;
  name: string;
  accessToken: string;
  refreshToken: string;
  expiresAt: string;
  ask: <Data>(query: string, variables?: object) => Promise<Data>;
  post: (text: string) => Promise<string>;
  follow: (...others: Member[]) => Promise<void>;
  /** Opens a page in a new browser, where the member is logged in. */
  open: (path?: string) => Promise<Page>;
}

interface Fixtures {
  signUp: (name: string) => Promise<Member>;
}

export const test = base.extend<Fixtures, { server: Server }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern
    async ({}, use) => {
      const server = new Server();
      await server.start();
      await use(server);
      await server.end();
    },
    { scope: "worker", auto: true, timeout: 90_000 },
  ],
  signUp: async ({ browser }, use) => {
    const pages: Page[] = [];
    await use((name) => signUp(browser, pages, name));
    await Promise.all(pages.map((page) => page.context().close()));
  },
});

const SIGN_UP = `mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    accessToken refreshToken expiresAt viewer { user { id login name } } userErrors { code message }
  }
}`;

async function signUp(browser: Browser, pages: Page[], name: string): Promise<Member> {
  members += 1;
  const login = `${name.toLowerCase()}_${Date.now().toString(36)}${members}`;
  const input = { login, name, email: `${login}@example.org`, password: PASSWORD };
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API, which its own tests check
  const { signUp: session } = await ask<any>(SIGN_UP, { input });
  const { accessToken, refreshToken, expiresAt, viewer } = session;
  const member: Member = {
    ...viewer.user,
    accessToken,
    refreshToken,
    expiresAt,
    ask: (query, variables) => ask(query, variables, accessToken),
    post: async (text) => {
      const query = "mutation Post($input: PostInput!) { post(input: $input) { status { id } } }";
      // biome-ignore lint/suspicious/noExplicitAny: the same
      return (await ask<any>(query, { input: { text } }, accessToken)).post.status.id;
    },
    follow: async (...others) => {
      const query = "mutation Follow($input: UsersInput!) { follow(input: $input) { users { id } } }";
      await ask(query, { input: { userIds: others.map(({ id }) => id) } }, accessToken);
    },
    open: async (path = "/") => {
      const page = await openAs(browser, member);
      pages.push(page);
      await page.goto(path);
      return page;
    },
  };
  return member;
}

async function openAs(
  browser: Browser,
  { id, login, accessToken, refreshToken, expiresAt }: Member,
): Promise<Page> {
  const session = JSON.stringify({ userId: id, login, accessToken, refreshToken, expiresAt });
  const localStorage = [{ name: "perch.session", value: session }];
  const context = await browser.newContext({
    baseURL: ADDRESS,
    locale: "en-GB",
    storageState: { cookies: [], origins: [{ origin: ADDRESS, localStorage }] },
  });
  return context.newPage();
}

async function ask<Data>(query: string, variables: object = {}, token?: string): Promise<Data> {
  const response = await fetch(`${ADDRESS}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** Returns the card of the post with a text. */
export function card(page: Page, text: string) {
  return page.getByRole("article").filter({ hasText: text });
}

/** Waits until the page hears of what happens live. */
export async function live(page: Page): Promise<void> {
  await page.getByRole("main").waitFor(); // before it, nothing says that the page is connecting
  await expect(page.getByText("Connecting…")).toBeHidden();
}
