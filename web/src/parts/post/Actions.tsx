import { useFormatter, useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { useSession } from "../../data/session/session";
import { Icon, type IconName } from "../ui/icons";
import { type PostAction, usePostAction } from "./actions";
import { useComposer } from "./composer";
import type { Body } from "./fragments";
import styles from "./post.module.css";

/** What a member does with a post. Each answer shows before the server's comes. */
export function Actions({ post }: { post: Body }) {
  const t = useTranslations("post");
  const act = useActions();
  const [, compose] = useComposer();
  const { id, viewerHasLiked, viewerHasReposted, viewerHasFavourited } = post;
  return (
    <div className={styles.actions}>
      <Action
        icon="reply"
        label={t("replies", { count: post.replyCount })}
        count={post.replyCount}
        onClick={() => act(() => compose({ kind: "reply", post }))}
      />
      <Action
        icon="repost"
        className={styles.repost}
        label={t("reposts", { count: post.repostCount })}
        count={post.repostCount}
        isPressed={viewerHasReposted}
        onClick={() => act(viewerHasReposted ? "unrepost" : "repost", id)}
      />
      <Action
        icon="like"
        className={styles.like}
        label={t("likes", { count: post.likeCount })}
        count={post.likeCount}
        isPressed={viewerHasLiked}
        onClick={() => act(viewerHasLiked ? "unlike" : "like", id)}
      />
      <Action
        icon="saved"
        className={styles.favourite}
        label={t("favourite")}
        isPressed={viewerHasFavourited}
        onClick={() => act(viewerHasFavourited ? "unfavourite" : "favourite", id)}
      />
    </div>
  );
}

/** Returns a function that acts for a member, and leads everybody else to the log-in. */
function useActions() {
  const isMember = useSession() !== null;
  const [, go] = useLocation();
  const act = usePostAction();
  return (action: PostAction | (() => void), id = "") => {
    if (!isMember) go("/login");
    else if (typeof action === "function") action();
    else void act(action, id);
  };
}

interface ActionProps {
  icon: IconName;
  label: string;
  className?: string;
  count?: number;
  isPressed?: boolean;
  onClick: () => void;
}

function Action({ icon, label, className = "", count = 0, isPressed, onClick }: ActionProps) {
  const format = useFormatter();
  return (
    <button
      type="button"
      className={`${styles.action} ${className}`}
      aria-label={label}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      <Icon name={icon} filled={isPressed && icon !== "repost"} />
      {count > 0 && <span>{format.number(count, { notation: "compact" })}</span>}
    </button>
  );
}
