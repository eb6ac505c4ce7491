import { chromium, type Page } from "@playwright/test";
import { card, expect, live, type Member, test } from "../tests/support/perch.ts";
import { ADDRESS } from "../tests/support/server.ts";

const DEBUGGING_PORT = 9333;
const LIGHTHOUSE = "lighthouse"; // `npm install --no-save lighthouse`; the client does not need it
const LIVE_POSTS = 1_000;
const LIVE_MS = 60_000;
const LIKES = 20;

function say(what: string, figure: unknown): void {
  console.log(`${what}: ${figure}`);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

interface Report {
  categories: Record<string, { title: string; score: number }>;
  audits: Record<string, { title: string; displayValue?: string; numericValue?: number }>;
}

test("Lighthouse", async ({ launchOptions }) => {
  const lighthouse = await import(LIGHTHOUSE).catch(() => null);
  test.skip(lighthouse === null, `npm install --no-save ${LIGHTHOUSE}`);
  const args = [...(launchOptions.args ?? []), `--remote-debugging-port=${DEBUGGING_PORT}`];
  const browser = await chromium.launch({ ...launchOptions, args });
  const flags = { port: DEBUGGING_PORT, logLevel: "error", output: "json" };
  const { lhr } = (await lighthouse.default(ADDRESS, flags)) as { lhr: Report };
  await browser.close();
  for (const { title, score } of Object.values(lhr.categories)) say(title, Math.round(score * 100));
  for (const id of ["largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift"]) {
    say(lhr.audits[id]?.title ?? id, lhr.audits[id]?.displayValue);
  }
});

test("cold start, until the home is shown", async ({ signUp }) => {
  const alice = await signUp("Alice");
  for (let number = 1; number <= 20; number += 1) await alice.post(`Number ${number}`);
  const page = await alice.open("about:blank");
  const requests: string[] = [];
  let scripts = 0;
  page.on("request", (request) => requests.push(request.url()));
  page.on("requestfinished", async (request) => {
    if (request.resourceType() === "script") scripts += (await request.sizes()).responseBodySize;
  });
  const begin = performance.now();
  await page.goto(ADDRESS, { waitUntil: "commit" });
  await card(page, "Number 20").waitFor();
  say("until the home is shown, ms", Math.round(performance.now() - begin));
  say("requests until then", requests.length);
  await page.waitForLoadState("networkidle");
  say("scripts, compressed, kB", (scripts / 1000).toFixed(1));
});

test("a click on like, until the next frame shows it", async ({ signUp }) => {
  const alice = await signUp("Alice");
  await alice.post("Like me");
  const page = await alice.open();
  const like = card(page, "Like me").getByRole("button", { name: "Like" });
  await like.waitFor();
  const took: number[] = [];
  for (let time = 0; time < LIKES; time += 1) {
    took.push(
      await like.evaluate(async (button: HTMLButtonElement) => {
        const before = button.getAttribute("aria-pressed");
        const begin = performance.now();
        button.click();
        while (button.getAttribute("aria-pressed") === before) await new Promise(requestAnimationFrame);
        return performance.now() - begin;
      }),
    );
  }
  say("until a like is shown, ms: median", median(took).toFixed(1));
  say("until a like is shown, ms: longest", Math.max(...took).toFixed(1));
});

test("1,000 live posts in a minute", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const writers: Member[] = [];
  for (let number = 0; number < 5; number += 1) writers.push(await signUp("Writer"));
  await alice.follow(...writers);
  await alice.post("Here already");
  const page = await alice.open();
  await card(page, "Here already").waitFor();
  await live(page);
  await watchFrames(page);
  const begin = Date.now();
  for (let number = 0; number < LIVE_POSTS; number += 1) {
    const wait = begin + (number * LIVE_MS) / LIVE_POSTS - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    void writers[number % writers.length]?.post(`Live ${number}`);
    // Somebody reads: the new posts are shown four times a minute, and the page is scrolled.
    if (number % 250 === 200) await page.getByRole("button", { name: /^Show \d/ }).click();
    if (number % 50 === 25) await page.mouse.wheel(0, number % 100 === 25 ? 2_000 : -2_000);
  }
  say("seconds", ((Date.now() - begin) / 1000).toFixed(1));
  await expect(page.getByRole("button", { name: /^Show \d/ })).toBeVisible();
  const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames);
  say("frames", frames.length);
  say("frames over 100 ms", frames.filter((took) => took > 100).length);
  say("longest frame, ms", Math.max(...frames).toFixed(0));
});

/** Notes how long each frame takes. */
async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    const frames: number[] = [];
    Object.assign(window, { frames });
    let last = performance.now();
    requestAnimationFrame(function frame(now) {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    });
  });
}
