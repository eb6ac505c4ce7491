import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { type FragmentOf, graphql } from "../../data/graphql/tada";
import { authorFragment } from "../../parts/post/fragments";
import { Avatar } from "../../parts/ui/Avatar";
import { Logo } from "../../parts/ui/icons";
import { Time } from "../../parts/ui/Time";
import { Invitation } from "./Invitation";
import styles from "./notifications.module.css";

export const notificationFragment = graphql(
  `
  fragment Notice on Notification {
    id
    kind
    createdAt
    isRead
    actor { ...Author }
    actorCount
    post { __typename id text }
    comment { id text }
    group { id name viewerRole }
  }
`,
  [authorFragment],
);

/** One notification: who did what, and to which post. */
export function Row({ notification }: { notification: FragmentOf<typeof notificationFragment> }) {
  const t = useTranslations("notifications");
  const { actor, actorCount, comment, createdAt, group, isRead, kind, post } = notification;
  const text = comment?.text ?? post?.text;
  return (
    <li className={styles.row} data-unread={!isRead}>
      {actor ? <Avatar {...actor} /> : <Logo size={44} />}
      <div>
        <p>
          {actor && (
            <Link href={`/@${actor.login}`}>
              <b dir="auto">{actor.name}</b>
            </Link>
          )}{" "}
          {kind === "GROUP_INVITE"
            ? t(kind, { group: group?.name ?? "" })
            : kind === "LIKE"
              ? t(kind, { others: actorCount - 1 })
              : t(kind)}{" "}
          <span className={styles.when}>
            <Time at={createdAt} />
          </span>
          {!isRead && <span className="unseen">{t("unread")}</span>}
        </p>
        {kind === "FOLLOW_REQUEST" && <Link href="/requests">{t("requests")}</Link>}
        {kind === "GROUP_INVITE" && group && <Invitation group={group} />}
        {post && (
          <p className={styles.text} dir="auto">
            <Link href={`/posts/${post.id}`}>{text}</Link>
          </p>
        )}
      </div>
    </li>
  );
}
