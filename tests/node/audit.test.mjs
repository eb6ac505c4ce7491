// The audit of the GraphQL over HTTP specification: every MUST, SHOULD and MAY of it holds, without exception.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serverAudits } from "graphql-http";

import { ENDPOINT, PATIENCE } from "./perch.mjs";

const AUDITS_AT_LEAST = 60; // of graphql-http 1.22; fewer means that the suite was not loaded

const audits = serverAudits({ url: ENDPOINT.href, fetchFn: fetch });

test("the audit suite is complete", () => {
  assert.ok(audits.length >= AUDITS_AT_LEAST, `only ${audits.length} audits`);
});

for (const audit of audits) {
  test(`${audit.id} ${audit.name}`, { timeout: PATIENCE }, async () => {
    const result = await audit.fn();
    assert.equal(result.status, "ok", `${result.status}: ${audit.name}: ${result.reason}`);
  });
}
