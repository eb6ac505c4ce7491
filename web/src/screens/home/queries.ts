import { graphql } from "../../data/graphql/tada";
import { entriesFragment } from "../../parts/post/fragments";

// It runs in the build too, which writes down what the page asks first.
export const HOME = graphql(
  `
  query Home($first: Int, $after: String, $last: Int, $before: String) {
    homeTimeline(first: $first, after: $after, last: $last, before: $before) { ...Entries }
  }
`,
  [entriesFragment],
);
