// Checks what the rooms of `src/` import. The layers import one way: app → screens → parts → data. A screen imports no
// other screen, and rooms do not import each other in a circle.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SOURCE = fileURLToPath(new URL("../src/", import.meta.url));
const LAYERS = ["app", "screens", "parts", "data"]; // each imports those after it
const INDEPENDENT = "screens";

/** Returns the relative imports of a module or style sheet. */
function imported(path, text) {
  const names = path.endsWith(".css")
    ? [...text.matchAll(/\bfrom\s+"([^"]+)"/g)].map(([, name]) => name)
    : ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  return names.filter((name) => name.startsWith(".")).map((name) => join(dirname(path), name));
}

/** Returns the room of a path below `src/`, such as `parts/post`. Files beside the layers are in none. */
function roomOf(path) {
  return LAYERS.includes(path.split("/")[0]) ? dirname(path) : null;
}

/** Returns what is wrong with the imports of some files, given as their texts by their paths below `src/`. */
export function complaints(files) {
  const wrong = [];
  const edges = new Map(); // the rooms that a room imports, each with one import as an example
  for (const [path, text] of Object.entries(files)) {
    for (const target of imported(path, text)) {
      const [from, to] = [roomOf(path), roomOf(target)];
      if (from === to || from === null) continue;
      const [upper, lower] = [from, to].map((room) => LAYERS.indexOf(room?.split("/")[0]));
      if (upper > lower) wrong.push(`${path} imports ${target}, which is in a layer above`);
      else if (upper === lower && LAYERS[upper] === INDEPENDENT)
        wrong.push(`${path} imports ${target}, which belongs to another screen`);
      if (!edges.has(from)) edges.set(from, new Map());
      edges.get(from).set(to, `${path} imports ${target}`);
    }
  }
  return [...wrong, ...circles(edges)];
}

/** Returns a complaint for each import with which a walk through the rooms comes back to where it was. */
function circles(edges) {
  const wrong = [];
  const done = new Set();
  const walk = (room, way) => {
    for (const [next, example] of edges.get(room) ?? []) {
      const start = way.indexOf(next);
      if (start >= 0) wrong.push(`${example}, in a circle: ${[...way.slice(start), next].join(" → ")}`);
      else if (!done.has(next)) walk(next, [...way, next]);
    }
    done.add(room);
  };
  for (const room of edges.keys()) if (!done.has(room)) walk(room, [room]);
  return wrong;
}

function source() {
  const paths = readdirSync(SOURCE, { recursive: true }).filter((path) => /\.(tsx?|css)$/.test(path));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(SOURCE, path), "utf8")]));
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === "") {
  const wrong = complaints(source());
  for (const complaint of wrong) console.error(complaint);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
