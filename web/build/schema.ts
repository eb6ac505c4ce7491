import { readFileSync } from "node:fs";
import { buildSchema, isAbstractType, isObjectType } from "graphql";
import type { Plugin } from "vite";

const MODULE = "virtual:schema-facts";
const RESOLVED = `\0${MODULE}`;

/**
 * Gives the cache what it must know of the schema: which types an interface or union has, and which objects have no
 * identity of their own.
 */
export function schemaFacts(path: string): Plugin {
  return {
    name: "schema-facts",
    resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
    load(id) {
      if (id !== RESOLVED) return;
      this.addWatchFile(path);
      const schema = buildSchema(readFileSync(path, "utf8"));
      const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith("__"));
      const possibleTypes = Object.fromEntries(
        types
          .filter(isAbstractType)
          .map((type) => [type.name, schema.getPossibleTypes(type).map((one) => one.name)]),
      );
      const roots = ["Query", "Mutation", "Subscription", "Hashtag"];
      const withoutId = types
        .filter((type) => isObjectType(type) && !type.getFields().id && !roots.includes(type.name))
        .map((type) => type.name);
      return `export const possibleTypes = ${JSON.stringify(possibleTypes)};
export const withoutId = ${JSON.stringify(withoutId)};`;
    },
  };
}
