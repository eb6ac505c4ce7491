// The audit of the GraphQL over HTTP specification: every MUST, SHOULD and MAY of it holds, without exception.
//
// The server answers plain requests where their bytes arrive, and leaves those with a query string to aiohttp. So the
// audit takes place at both addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serverAudits } from "graphql-http";

import { ENDPOINT, PATIENCE } from "./perch.mjs";

const AUDITS_AT_LEAST = 60; // of graphql-http 1.22; fewer means that the suite was not loaded

for (const url of [ENDPOINT.href, `${ENDPOINT.href}?by=aiohttp`]) {
  const audits = serverAudits({ url, fetchFn: fetch });

  test(`the audit suite is complete at ${url}`, () => {
    assert.ok(audits.length >= AUDITS_AT_LEAST, `only ${audits.length} audits`);
  });

  for (const audit of audits) {
    test(`${audit.id} ${audit.name} at ${url}`, { timeout: PATIENCE }, async () => {
      const result = await audit.fn();
      assert.equal(result.status, "ok", `${result.status}: ${audit.name}: ${result.reason}`);
    });
  }
}
