import { type FragmentOf, graphql } from "../../data/graphql/tada";
import { authorFragment } from "../../parts/post/fragments";

export const commentFragment = graphql(
  `fragment Remark on Comment { id text createdAt author { ...Author } replyTo { id author { ...Author } } }`,
  [authorFragment],
);

export type Remark = FragmentOf<typeof commentFragment>;
