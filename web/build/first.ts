import { type AnyVariables, createRequest, formatDocument, stringifyDocument } from "@urql/core";
import { type Plugin, runnerImport } from "vite";

const MODULE = "virtual:first-requests";
const RESOLVED = `\0${MODULE}`;
const EARLY = "src/early.ts";
const FIRST_SCREENS = /\/src\/screens\/(explore\/Explore|home\/Home)\.tsx$/;

type Documents = Record<string, Parameters<typeof formatDocument>[0]>;

/**
 * Lets the page send its first requests before the client is loaded. It writes down their bodies, adds the script that
 * sends them, and has the browser load the first screens together with the client.
 */
export function firstRequests(): Plugin {
  return {
    name: "first-requests",
    buildStart() {
      if (this.meta.watchMode || this.environment?.mode === "dev") return;
      this.emitFile({ type: "chunk", id: EARLY, name: "early" });
    },
    resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
    async load(id) {
      if (id !== RESOLVED) return;
      const { PUBLIC, TRENDS } = await documents("./src/screens/explore/queries.ts");
      const { HOME } = await documents("./src/screens/home/queries.ts");
      const { PAGE } = (await runnerImport<{ PAGE: number }>("./src/parts/feed/page.ts")).module;
      const explore = [body(TRENDS), body(PUBLIC, { first: PAGE, order: "RECENT" })];
      const home = [body(HOME, { first: PAGE })];
      return `export const explore = ${JSON.stringify(explore)};\nexport const home = ${JSON.stringify(home)};`;
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((one) => one.type === "chunk");
        const early = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(EARLY));
        const screens = chunks.filter(({ moduleIds }) => moduleIds.some((id) => FIRST_SCREENS.test(id)));
        if (!early) return;
        return [
          {
            tag: "script",
            attrs: { type: "module", crossorigin: true, src: `/${early.fileName}` },
            injectTo: "head-prepend",
          },
          ...screens.map(({ fileName }) => ({
            tag: "link",
            attrs: { rel: "modulepreload", crossorigin: true, href: `/${fileName}` },
            injectTo: "head" as const,
          })),
        ];
      },
    },
  };
}

async function documents(path: string): Promise<Documents> {
  return (await runnerImport<Documents>(path)).module;
}

/** Writes a request as urql does. */
function body(document: Documents[string] | undefined, variables?: AnyVariables): string {
  if (!document) throw new Error("a first query has another name now");
  const request = createRequest(document, variables ?? {});
  const query = stringifyDocument(formatDocument(request.query));
  const operationName = /query (\w+)/.exec(query)?.[1];
  return JSON.stringify({ operationName, query, variables });
}
