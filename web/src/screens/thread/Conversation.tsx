import { useQuery } from "urql";
import { graphql } from "../../data/graphql/tada";
import { More } from "../../parts/page/PagedList";
import { type Card, postFragment } from "../../parts/post/fragments";
import { Posts } from "./Posts";

const CONVERSATION = graphql(
  `
  query Conversation($id: ID!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on Status {
        conversation(first: 30, after: $after) { nodes { ...Card } pageInfo { hasNextPage endCursor } }
      }
    }
  }
`,
  [postFragment],
);

interface ConversationProps {
  id: string;
  /** The status itself, which is shown until its place in the conversation is known. */
  focus?: Card;
  after?: string | null;
}

/** The whole conversation of a status, oldest first, page by page. */
export function Conversation({ id, focus, after = null }: ConversationProps) {
  const [{ data }] = useQuery({
    query: CONVERSATION,
    variables: { id, after },
    requestPolicy: "cache-and-network",
  });
  const found = data?.node?.__typename === "Status" ? data.node.conversation : undefined;
  const posts = found?.nodes ?? [];
  const isMissing = focus !== undefined && !posts.some((post) => post.id === id);
  return (
    <>
      <Posts posts={isMissing ? [...posts, focus] : posts} focusId={id} />
      {found?.pageInfo.hasNextPage && (
        <More>
          <Conversation id={id} after={found.pageInfo.endCursor} />
        </More>
      )}
    </>
  );
}
