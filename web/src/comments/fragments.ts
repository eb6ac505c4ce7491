import { type FragmentOf, graphql } from "../graphql/tada";
import { authorFragment } from "../post/fragments";

export const commentFragment = graphql(
  `fragment Remark on Comment { id text createdAt author { ...Author } replyTo { id author { ...Author } } }`,
  [authorFragment],
);

export type Remark = FragmentOf<typeof commentFragment>;
