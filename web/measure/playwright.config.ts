import { defineConfig } from "@playwright/test";
import tests from "../playwright.config.ts";

// The figures of docs/web-client.md: `npm run measure`, on a machine that does nothing else.
export default defineConfig({ ...tests, testDir: ".", testMatch: "*.figures.ts", timeout: 180_000 });
