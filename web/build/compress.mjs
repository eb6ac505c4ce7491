// Puts a brotli and a gzip form beside each file of the built client. The server sends what the browser accepts.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const DIST = new URL("../../serving/http/web_client/dist/", import.meta.url).pathname;
const SMALLEST = 512; // bytes; below, a compressed form saves nothing

for (const name of readdirSync(DIST, { recursive: true })) {
  const path = join(DIST, name);
  if (!/\.(js|css|html|svg|json|webmanifest)$/.test(name)) continue;
  const content = readFileSync(path);
  if (content.length < SMALLEST) continue;
  writeFileSync(`${path}.br`, brotliCompressSync(content));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
