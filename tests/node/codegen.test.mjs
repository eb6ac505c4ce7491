// graphql-codegen's client preset: a program that `tsc --strict` accepts takes the steps, also on a server that trusts
// only the documents of the manifests that graphql-codegen and relay-compiler write.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";

import { createClient } from "graphql-ws";
import WebSocket from "ws";

import * as steps from "./clients.mjs";
import { compileForRelay, compileWithCodegen } from "./compilers.mjs";
import { ENDPOINT, PATIENCE, cable, within } from "./perch.mjs";

let program;
let manifest;

before(async () => {
  const compiled = await compileWithCodegen();
  program = createRequire(import.meta.url)(join(compiled.folder, "compiled/program.js"));
  manifest = compiled.manifest;
});

const ask = async (url, body, headers = {}) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
};

describe("the program of graphql-codegen", { timeout: 3 * PATIENCE }, () => {
  const programOf = (session) =>
    new program.Program(async (query, _, variables) => {
      const { data, errors } = await ask(ENDPOINT, { query, variables }, session.headers());
      assert.equal(errors, undefined, JSON.stringify(errors));
      return data;
    });

  test("logs in, refreshes, reads two pages, likes a post and logs out", async () => {
    const session = await steps.session();
    const app = programOf(session);
    const { identifier, password } = session.credentials;
    const tokens = await app.logIn(identifier, password);
    session.accessToken = (await app.refresh(tokens.refreshToken)).accessToken;
    assert.equal(await app.login(), session.member.login);

    const first = await app.page();
    const second = await app.page(first.endCursor);
    assert.equal(new Set([...first.ids, ...second.ids]).size, 10);
    assert.ok(first.texts.some(Boolean));
    assert.deepEqual(await app.like(await steps.written(session)), [1, true]);
    assert.equal(await app.logOut(), 0);
    await assert.rejects(app.login(), /UNAUTHENTICATED/);
  });

  test("sees a post live, and on resuming the one it missed", async (t) => {
    const session = await steps.session();
    const line = await cable(t);
    session.accessToken = session.member.token;
    const client = createClient({
      url: line.url.replace(/^http/, "ws"),
      webSocketImpl: WebSocket,
      connectionParams: () => session.headers(),
    });
    t.after(() => client.dispose());
    const received = steps.inbox();
    t.after(program.listen(client, received.add));
    await steps.seeLiveAndResume(session, received, line);
  });
});

describe("a server with trusted documents", { timeout: 3 * PATIENCE }, () => {
  let url;
  let server;
  let folder;
  let byRelay;

  before(async () => {
    ({ manifest: byRelay } = await compileForRelay());
    folder = await mkdtemp(join(tmpdir(), "perch-trusted-"));
    const file = join(folder, "persisted.json");
    await writeFile(file, JSON.stringify({ ...byRelay, ...manifest }));
    const [command, ...given] = JSON.parse(process.env.PERCH_SERVE);
    const env = { ...process.env, PORT: "0", DATA_DIR: join(folder, "data"), TRUSTED_DOCUMENTS: file };
    server = spawn(command, given, { env, stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface({ input: server.stdout })) {
      if ((url = line.match(/http:\S+/)?.[0])) break;
    }
    assert.ok(url, "the server did not start");
    server.stdout.resume();
  });
  after(async () => {
    server.kill("SIGTERM");
    await within(once(server, "exit"), "the end of the server");
    await rm(folder, { recursive: true });
  });

  test("executes the documents of the manifests by their ids", async () => {
    const app = new program.Program(async (_, documentId, variables) => (await ask(url, { documentId, variables })).data);
    assert.deepEqual((await app.page()).ids, []);
    const doc_id = Object.keys(byRelay).find((id) => byRelay[id].startsWith("query operationsViewerQuery"));
    assert.deepEqual(await ask(url, { doc_id }), { data: { viewer: null } });
  });

  test("refuses every other document", async () => {
    const code = async (body) => (await ask(url, body)).errors[0].extensions.code;
    assert.equal(await code({ query: "{ __typename }" }), "DOCUMENT_NOT_TRUSTED");
    assert.equal(await code({ documentId: "unknown" }), "DOCUMENT_NOT_TRUSTED");
  });

  test("refuses other documents on a websocket, and executes a trusted subscription", async (t) => {
    const client = createClient({ url: url.replace(/^http/, "ws"), webSocketImpl: WebSocket });
    t.after(() => client.dispose());
    const outcome = async (request) => {
      for await (const result of client.iterate(request)) return result.errors[0].extensions.code;
    };
    const thrown = (request) => outcome(request).catch(([error]) => error.extensions.code);
    assert.equal(await thrown({ query: steps.LIVE }), "DOCUMENT_NOT_TRUSTED");
    const documentId = Object.keys(manifest).find((id) => manifest[id].startsWith("subscription"));
    assert.equal(await thrown({ query: "", documentId }), "UNAUTHENTICATED");
  });
});
