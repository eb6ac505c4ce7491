// Writes the code that docs/clients.md shows into files, which the tests import. The first line of a block names its file.

import { readFile, writeFile } from "node:fs/promises";

const guide = await readFile(process.argv[2], "utf8");
for (const [, file, code] of guide.matchAll(/^```js\n\/\/ (\w+\.js)\n(.*?)^```$/gms)) {
  await writeFile(new URL(file, import.meta.url), code);
}
