import { memo } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useSession } from "../../data/session/session";
import { Pictures } from "../pictures/Pictures";
import { Avatar } from "../ui/Avatar";
import { Icon } from "../ui/icons";
import { Time } from "../ui/Time";
import { Actions } from "./Actions";
import type { Author, Body, Card } from "./fragments";
import { PostMenu } from "./PostMenu";
import { PostText } from "./PostText";
import styles from "./post.module.css";

/** A post with its actions. A plain repost shows its original, which is what all actions are about. */
export const PostCard = memo(function PostCard({ post, isFocus }: { post: Card; isFocus?: boolean }) {
  if (post.__typename === "Repost" && post.text === "") {
    const { original } = post;
    return original ? <Whole post={original} quoted={quotedBy(original)} /> : null;
  }
  return <Whole post={post} quoted={quotedBy(post)} isFocus={isFocus} />;
});

/** What a quote is about; null when that is gone, and undefined when a post is no quote. */
function quotedBy(post: { __typename: string; original?: Body | null }): Body | null | undefined {
  return post.__typename === "Repost" ? (post.original ?? null) : undefined;
}

interface WholeProps {
  post: Body;
  quoted?: Body | null;
  isFocus?: boolean;
}

function Whole({ post, quoted, isFocus }: WholeProps) {
  const t = useTranslations("post");
  const isMember = useSession() !== null;
  return (
    <article className={styles.post} data-focus={isFocus} aria-labelledby={`by-${post.id}`}>
      <Avatar {...post.author} />
      <div className={styles.body}>
        <header className={styles.by}>
          <AuthorLink author={post.author} id={`by-${post.id}`} />
          <Link className={styles.when} href={`/posts/${post.id}`}>
            <Time at={post.createdAt} />
          </Link>
          {isMember && <PostMenu post={post} />}
        </header>
        <Context post={post} />
        <Content post={post} />
        {quoted && <Quoted post={quoted} />}
        {quoted === null && <p className={styles.gone}>{t("gone")}</p>}
        <Actions post={post} />
      </div>
    </article>
  );
}

export function AuthorLink({ author, id }: { author: Author; id?: string }) {
  return (
    <Link className={styles.author} href={`/@${author.login}`} id={id}>
      <b dir="auto">{author.name}</b> <span>@{author.login}</span>
    </Link>
  );
}

/** What a post answers, and the group that it is in. */
function Context({ post }: { post: Body }) {
  const t = useTranslations("post");
  if (post.__typename !== "Status") return null;
  const { inReplyTo, group } = post;
  return (
    <>
      {inReplyTo && (
        <p className={styles.context}>
          <Link href={`/posts/${inReplyTo.id}`}>{t("inReplyTo", { name: inReplyTo.author.name })}</Link>
        </p>
      )}
      {group && <p className={styles.context}>{t("in", { group: group.name })}</p>}
      {post.isHidden && (
        <p className={styles.context}>
          <Icon name="lock" width="16" height="16" /> {t("hidden")}
        </p>
      )}
    </>
  );
}

function Quoted({ post }: { post: Body }) {
  return (
    <div className={styles.quoted}>
      <div className={styles.by}>
        <AuthorLink author={post.author} />
        <Link className={styles.when} href={`/posts/${post.id}`}>
          <Time at={post.createdAt} />
        </Link>
      </div>
      <Content post={post} />
    </div>
  );
}

/** The text and the pictures of a post. It has at least one of them. */
function Content({ post }: { post: Body }) {
  return (
    <>
      {post.text && (
        <p className={styles.text} dir="auto">
          <PostText text={post.text} mentions={post.mentions} />
        </p>
      )}
      <Pictures pictures={post.images} />
    </>
  );
}
