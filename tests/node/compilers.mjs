// Runs relay-compiler and graphql-codegen as a front end's build does, each in a new folder with a manifest of documents.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const run = promisify(execFile);

async function copyOf(folder) {
  const copy = await mkdtemp(join(HERE, `${folder}-`)); // here, so that the clients' packages are found
  await cp(join(HERE, folder), copy, { recursive: true });
  return copy;
}

/** Compile the operations for Relay; returns the folder of the artifacts, and the manifest. */
export async function compileForRelay() {
  const folder = await copyOf("relay");
  const artifacts = join(folder, "__generated__");
  await mkdir(artifacts);
  await writeFile(join(folder, "persisted.json"), "{}");
  await cp(process.env.PERCH_SCHEMA, join(folder, "schema.graphql"));
  await run(join(HERE, "node_modules/.bin/relay-compiler"), [], { cwd: folder });
  return { artifacts, manifest: JSON.parse(await readFile(join(folder, "persisted.json"), "utf8")) };
}

/** Generate the types, compile the program with `tsc --strict`, and return its folder, and the manifest. */
export async function compileWithCodegen() {
  const folder = await copyOf("codegen");
  const bin = (name) => join(HERE, "node_modules/.bin", name);
  await run(bin("graphql-codegen"), ["--config", "codegen.mjs"], { cwd: folder });
  await run(bin("tsc"), ["--project", "."], { cwd: folder }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
  const manifest = await readFile(join(folder, "generated/persisted-documents.json"), "utf8");
  return { folder, manifest: JSON.parse(manifest) };
}
