import { defineConfig } from "@playwright/test";
import { ADDRESS } from "./tests/support/server.ts";

// Debian's Chromium, as root in a container, without its attempts to reach its makers.
const CHROMIUM = "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export default defineConfig({
  testDir: "tests",
  timeout: 60_000, // a busy machine is slow: what passes takes no longer
  expect: { timeout: 20_000 },
  workers: 2, // each has a server, which its tests share
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    baseURL: ADDRESS,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
    launchOptions: { executablePath: CHROMIUM, args: FLAGS },
    trace: process.env.PERCH_TRACE ? "retain-on-failure" : "off",
  },
});
