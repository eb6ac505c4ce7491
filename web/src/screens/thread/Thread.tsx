import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { useLiveEvents } from "../../data/graphql/useLiveEvents";
import { Failed } from "../../parts/page/Failed";
import { Missing } from "../../parts/page/Missing";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { postFragment } from "../../parts/post/fragments";
import { useRemoved } from "../../parts/post/removed";
import { Comments } from "./Comments";
import { Conversation } from "./Conversation";
import { Posts } from "./Posts";

const THREAD = graphql(
  `
  query Thread($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Post { ...Card commentCount }
      ... on Repost { original { __typename id commentCount author { id } } replies(first: 50) { nodes { ...Card } } }
    }
  }
`,
  [postFragment],
);

const ACTIVITY = graphql(`
  subscription Activity($id: ID!) {
    postActivity(postId: $id) {
      likeCount repostCount quoteCount replyCount commentCount
      post { __typename id likeCount repostCount quoteCount replyCount commentCount }
    }
  }
`);

/** A post in its conversation. Its numbers change live. */
export default function Thread() {
  const t = useTranslations("thread");
  const { id } = useParams<{ id: string }>();
  const removed = useRemoved();
  const [{ data, error, fetching }, again] = useQuery({
    query: THREAD,
    variables: { id },
    requestPolicy: "cache-and-network",
  });
  useLiveEvents(ACTIVITY, { id }, () => {}); // the cache takes the numbers
  const node = data?.node;
  if (fetching && !node) return <Waiting />;
  if (!data) return <Failed error={error} onRetry={again} />;
  if (!node || removed.has(id) || !("author" in node)) return <Missing />;
  return (
    <>
      <Title text={t("title")} back />
      {node.__typename === "Status" ? (
        <Conversation id={id} focus={node} />
      ) : (
        <Posts posts={[node, ...("replies" in node ? node.replies.nodes : [])]} focusId={id} />
      )}
      <Comments key={id} post={commentedOn(node)} />
    </>
  );
}

type Post = Extract<NonNullable<ResultOf<typeof THREAD>["node"]>, { author: unknown }>;

/** Returns the post that comments are on: of a plain repost, its original. */
function commentedOn(post: Post) {
  return post.__typename === "Repost" && post.text === "" && post.original ? post.original : post;
}
