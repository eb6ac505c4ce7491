import { useEffect, useRef, useState } from "react";
import { useClient, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { moderates } from "../../parts/groups/fragments";
import { PagedList } from "../../parts/page/PagedList";
import controls from "../../parts/ui/controls.module.css";
import { Comment } from "./Comment";
import { CommentForm } from "./CommentForm";
import styles from "./comments.module.css";
import { commentFragment, type Remark } from "./fragments";

const COMMENTS = graphql(
  `
  query Comments($id: ID!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on Post { comments(first: 20, after: $after) { nodes { ...Remark } pageInfo { hasNextPage endCursor } } }
    }
  }
`,
  [commentFragment],
);

const RIGHTS = graphql(`
  query CommentRights($group: ID!) {
    viewer { id role }
    node(id: $group) { __typename id ... on Group { viewerRole } }
  }
`);

interface CommentsProps {
  post: { id: string; commentCount: number; author: { id: string }; group?: { id: string } | null };
}

/** The comments on a post, newest first. New ones appear when the count of the post changes. */
export function Comments({ post }: CommentsProps) {
  const t = useTranslations("comments");
  const { id, commentCount } = post;
  const session = useSession();
  const [answered, setAnswered] = useState<Remark | null>(null);
  const mayDeleteAll = useMayDeleteAll(post);
  useFresh(id, commentCount);
  return (
    <section aria-labelledby="comments" className={styles.comments}>
      <h2 id="comments">{t("title", { count: commentCount })}</h2>
      {session ? (
        <CommentForm key={answered?.id} postId={id} answered={answered} onDone={() => setAnswered(null)} />
      ) : (
        <p>
          <Link className={controls.button} href="/login">
            {t("logIn")}
          </Link>
        </p>
      )}
      <PagedList
        document={COMMENTS}
        variables={{ id }}
        rows={({ node }) => (node && "comments" in node ? node.comments : null)}
        empty={t("empty")}
      >
        {(comment) => (
          <Comment
            key={comment.id}
            comment={comment}
            mayDelete={mayDeleteAll || comment.author.id === session?.userId}
            onAnswer={() => setAnswered(comment)}
          />
        )}
      </PagedList>
    </section>
  );
}

/** Returns whether the viewer may delete comments of others: on a post of their own, or as a moderator. */
function useMayDeleteAll({ author, group }: CommentsProps["post"]): boolean {
  const session = useSession();
  const [{ data }] = useQuery({ query: RIGHTS, variables: { group: group?.id ?? "" }, pause: !session });
  const role = data?.viewer?.role ?? "MEMBER";
  const looksAfter = data?.node?.__typename === "Group" && moderates(data.node);
  return session !== null && (author.id === session.userId || role !== "MEMBER" || looksAfter);
}

/** Reads the newest comments again when their number has changed. */
function useFresh(id: string, count: number): void {
  const client = useClient();
  const last = useRef(count);
  useEffect(() => {
    if (last.current === count) return;
    last.current = count;
    void client.query(COMMENTS, { id, after: null }, { requestPolicy: "network-only" }).toPromise();
  }, [client, id, count]);
}
