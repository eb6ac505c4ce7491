import { useEffect, useRef } from "react";
import type { Card } from "../../parts/post/fragments";
import { PostCard } from "../../parts/post/PostCard";
import styles from "../../parts/post/post.module.css";
import { useRemoved } from "../../parts/post/removed";

/** Lists posts, and leads the eye to one of them. */
export function Posts({ posts, focusId }: { posts: Card[]; focusId: string }) {
  const focus = useRef<HTMLLIElement>(null);
  const removed = useRemoved();
  const isBelow = posts[0]?.id !== focusId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another post is another place on the page
  useEffect(() => {
    if (isBelow) focus.current?.scrollIntoView({ block: "center" });
  }, [isBelow, focusId]);
  return (
    <ol>
      {posts
        .filter(({ id }) => !removed.has(id))
        .map((post) => (
          <li key={post.id} ref={post.id === focusId ? focus : undefined} className={styles.entry}>
            <PostCard post={post} isFocus={post.id === focusId && posts.length > 1} />
          </li>
        ))}
    </ol>
  );
}
