import compile from "icu-minify/compile";
import type { Plugin } from "vite";

type Messages = { [key: string]: string | Messages };

/** Compiles the ICU messages of `src/parts/i18n/*.json`, so that the page needs no parser. */
export function compiledMessages(): Plugin {
  return {
    name: "compiled-messages",
    enforce: "pre",
    transform(code, id) {
      if (!/\/src\/parts\/i18n\/[a-z]+\.json$/.test(id)) return;
      return { code: JSON.stringify(compileAll(JSON.parse(code))), map: null };
    },
  };
}

function compileAll(messages: Messages): unknown {
  return Object.fromEntries(
    Object.entries(messages).map(([key, value]) => [
      key,
      typeof value === "string" ? compile(value) : compileAll(value),
    ]),
  );
}
