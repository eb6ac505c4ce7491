import { initGraphQLTada } from "gql.tada";
import type { introspection } from "./schema";

/** Types a document by the schema. Fragments are plain: each screen sees all that it asked for. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; ID: string };
  disableMasking: true;
}>();

export type { FragmentOf, ResultOf, VariablesOf } from "gql.tada";
