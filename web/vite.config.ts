import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import { firstRequests } from "./build/first.ts";
import { compiledMessages } from "./build/messages.ts";
import { schemaFacts } from "./build/schema.ts";

const SERVER = process.env.PERCH_URL ?? "http://127.0.0.1:8000";

const LIBRARIES =
  /node_modules\/(fast-blurhash|react|react-dom|scheduler|urql|@urql|wonka|@0no-co|graphql-ws|gql\.tada|use-intl|intl-messageformat|@formatjs|icu-minify|use-sync-external-store|wouter|regexparam)\//;
const SHARED =
  /\/src\/(app|data|parts\/(compose|drafts|feed|i18n|page|pictures|post|ui))\/|explore\/(OrderChoice|explore\.module)/;

export default defineConfig({
  plugins: [
    react(),
    compiledMessages(),
    schemaFacts("../schema.graphql"),
    firstRequests(),
    VitePWA({
      strategies: "generateSW",
      injectRegister: null, // the page registers the worker itself: its policy allows no inline script
      manifest: {
        name: "Perch",
        short_name: "Perch",
        description: "A calm place to say things.",
        theme_color: "#176b5c",
        background_color: "#faf8f4",
        display: "standalone",
        icons: [{ src: "/icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any" }],
      },
      workbox: {
        globPatterns: ["**/*.{js,css,html,svg,webmanifest}"],
        navigateFallbackDenylist: [/^\/(graphql|verify|reset|export|media|uploads|healthz|readyz)/],
        inlineWorkboxRuntime: true,
        cleanupOutdatedCaches: true,
      },
    }),
  ],
  resolve: {
    // Messages are compiled when the client is built, so the page needs no parser of them.
    alias: { "use-intl/format-message": "use-intl/format-message/format-only" },
  },
  build: {
    outDir: "../serving/http/web_client/dist",
    emptyOutDir: true,
    cssCodeSplit: false, // all styles are 5 KB: a file for each screen would be one more to wait for
    assetsInlineLimit: 0, // the policy allows no inline scripts or styles
    target: "es2023",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What most screens share is one file: many small ones would each be a request. Libraries change less often.
        codeSplitting: {
          groups: [
            { name: "libraries", test: LIBRARIES, priority: 2 },
            { name: "shared", test: SHARED, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/graphql": { target: SERVER, ws: true } } },
});
