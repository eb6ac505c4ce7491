import { graphql } from "../../data/graphql/tada";
import { entriesFragment } from "../../parts/post/fragments";

// These run in the build too, which writes down what the page asks first.
export const PUBLIC = graphql(
  `
  query Public($first: Int, $after: String, $last: Int, $before: String, $order: TimelineOrder) {
    publicTimeline(first: $first, after: $after, last: $last, before: $before, order: $order) { ...Entries }
  }
`,
  [entriesFragment],
);

export const TRENDS = graphql(`query Trends { trendingHashtags(first: 8) { name postCount } }`);
