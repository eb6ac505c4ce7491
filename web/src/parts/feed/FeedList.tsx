import { memo, type ReactNode, useDeferredValue, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Failed } from "../page/Failed";
import { Waiting } from "../page/Waiting";
import type { Edge } from "../post/fragments";
import { AuthorLink, PostCard } from "../post/PostCard";
import styles from "../post/post.module.css";
import { useRemoved } from "../post/removed";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import type { Feed, FeedView } from "./feed";
import feedStyles from "./feed.module.css";

const AHEAD = "800px"; // the next page is fetched so far before its place is seen

interface FeedListProps<Data> {
  view: FeedView;
  feed: Feed<Data>;
  /** What is shown in place of an empty list. */
  empty?: ReactNode;
}

/** A list of posts with what comes before and after it. */
export function FeedList<Data>({ view, feed, empty }: FeedListProps<Data>) {
  const t = useTranslations("feed");
  const removed = useRemoved();
  // A page of posts is drawn in small steps, so that the screen answers meanwhile.
  const drawn = useDeferredValue(view.edges);
  const edges = drawn.filter(({ node }) => !removed.has(node.id));
  const isDrawing = drawn !== view.edges;

  function showNewer() {
    feed.showNewer();
    scrollTo({ top: 0 });
  }

  return (
    <>
      <div role="status" className={feedStyles.newer}>
        {view.waiting > 0 && (
          <button type="button" className={controls.primary} onClick={showNewer}>
            {t("newer", { count: view.waiting })}
          </button>
        )}
      </div>
      <ol>
        {edges.map((edge) => (
          <li key={edge.node.id} className={styles.entry}>
            <Entry edge={edge} />
          </li>
        ))}
      </ol>
      {edges.length === 0 && (view.isLoading || isDrawing) && <Waiting />}
      {edges.length === 0 && !isDrawing && !view.isLoading && !view.error && (
        <div className={controls.notice}>{empty ?? t("empty")}</div>
      )}
      <Below view={view} feed={feed} isEmpty={edges.length === 0} />
    </>
  );
}

function Below<Data>({ view, feed, isEmpty }: { view: FeedView; feed: Feed<Data>; isEmpty: boolean }) {
  const t = useTranslations("feed");
  const more = useRef<HTMLButtonElement>(null);
  const { hasMore, isLoading, error } = view;

  useEffect(() => {
    const button = more.current;
    if (!button) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && feed.more(), {
      rootMargin: AHEAD,
    });
    observer.observe(button);
    return () => observer.disconnect();
  });

  if (error) {
    return <Failed error={error} onRetry={() => feed.reset()} />;
  }
  if (isEmpty) return null;
  if (!hasMore) return isLoading ? null : <p className={controls.notice}>{t("end")}</p>;
  return (
    <div className={controls.notice}>
      <button ref={more} type="button" className={controls.button} disabled={isLoading} onClick={feed.more}>
        {t("more")}
      </button>
    </div>
  );
}

const Entry = memo(function Entry({ edge }: { edge: Edge }) {
  const { node } = edge;
  if (node.__typename === "Promotion") return <Promoted promotion={node} />;
  if (node.__typename === "Comment") return null; // only mentions list comments
  return (
    <>
      <Sources edge={edge} />
      <PostCard post={node} />
    </>
  );
});

/** Names the members whose reposts brought a post here. */
function Sources({ edge }: { edge: Edge }) {
  const t = useTranslations("post");
  const { node, repostedBy, repostedByCount } = edge;
  const isPlain = node.__typename === "Repost" && node.text === "";
  const users = isPlain ? [node.author] : repostedBy.map(({ user }) => user);
  if (users.length === 0) return null;
  const others = isPlain ? 0 : Math.max(0, repostedByCount - users.length);
  return (
    <p className={styles.source}>
      <Icon name="repost" width="18" height="18" />
      <span>
        {t.rich("repostedByRich", {
          others,
          names: () =>
            users.map((user, place) => (
              <span key={user.id}>
                {place > 0 && ", "}
                <Link href={`/@${user.login}`}>{user.name}</Link>
              </span>
            )),
        })}
      </span>
    </p>
  );
}

function Promoted({ promotion }: { promotion: Extract<Edge["node"], { __typename: "Promotion" }> }) {
  const t = useTranslations("post");
  const { sponsor, subject } = promotion;
  if (!subject) return null;
  return (
    <>
      <p className={styles.source}>{sponsor ? t("promotedBy", { name: sponsor.name }) : t("promoted")}</p>
      {subject.__typename === "Status" && <PostCard post={subject} />}
      {subject.__typename === "User" && (
        <div className={styles.advertisement}>
          <AuthorLink author={subject} />
          <p>{subject.bio}</p>
        </div>
      )}
      {subject.__typename === "Advertisement" && (
        <div className={styles.advertisement}>
          <a href={subject.url} rel="noreferrer nofollow sponsored" target="_blank">
            <b>{subject.title}</b>
          </a>
          <p>{subject.text}</p>
        </div>
      )}
    </>
  );
}
