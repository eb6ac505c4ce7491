import { useQuery } from "urql";
import { useFormatter, useTranslations } from "use-intl";
import { Link, useParams } from "wouter";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { relationFragment } from "../../parts/members/members";
import { Failed } from "../../parts/page/Failed";
import { Missing } from "../../parts/page/Missing";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { pictureFragment } from "../../parts/pictures/fragments";
import { PictureImage } from "../../parts/pictures/PictureImage";
import { authorFragment, entriesFragment, postFragment } from "../../parts/post/fragments";
import { PostCard } from "../../parts/post/PostCard";
import { PostText } from "../../parts/post/PostText";
import { Avatar } from "../../parts/ui/Avatar";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import { FollowButton } from "./FollowButton";
import { MemberMenu } from "./MemberMenu";
import styles from "./profile.module.css";

const PROFILE = graphql(
  `
  query Profile($login: String!) {
    user(login: $login) {
      ...Author
      ...Relation
      avatar { id small: url(size: SMALL) large: url }
      header { ...Picture }
      bio
      isPrivate
      isSuspended
      createdAt
      followingCount
      postCount
      pinnedPost { ...Card }
    }
  }
`,
  [authorFragment, relationFragment, postFragment, pictureFragment],
);

const POSTS = graphql(
  `
  query ProfilePosts($login: String!, $first: Int, $after: String, $last: Int, $before: String) {
    user(login: $login) {
      id
      timeline(first: $first, after: $after, last: $last, before: $before) { ...Entries }
    }
  }
`,
  [entriesFragment],
);

const HEADER = "(min-width: 700px) 620px, 100vw";

const ROLE = graphql(`query OwnRole { viewer { id role } }`);

const source: Source<ResultOf<typeof POSTS>> = {
  name: "profile",
  document: POSTS,
  entries: (data) => data.user?.timeline,
};

export type Member = NonNullable<ResultOf<typeof PROFILE>["user"]>;

/** A member, and what they posted. */
export default function Profile() {
  const { login } = useParams<{ login: string }>();
  const [{ data, error, fetching }, again] = useQuery({
    query: PROFILE,
    variables: { login },
    requestPolicy: "cache-and-network",
  });
  if (fetching && !data) return <Waiting />;
  if (!data) return <Failed error={error} onRetry={again} />;
  if (!data?.user) return <Missing />;
  return (
    <>
      <Title text={data.user.name} back />
      <About member={data.user} />
      <Posts member={data.user} />
    </>
  );
}

function About({ member }: { member: Member }) {
  const t = useTranslations("profile");
  const format = useFormatter();
  const session = useSession();
  const isOther = session !== null && session.userId !== member.id;
  const bold = { b: (text: React.ReactNode) => <b>{text}</b> };
  return (
    <section className={styles.about}>
      {member.header && (
        <div className={styles.header}>
          <PictureImage picture={member.header} sizes={HEADER} />
        </div>
      )}
      <div className={styles.top}>
        <Avatar {...member} large />
        {session?.userId === member.id && <OwnLinks />}
        {isOther && (
          <div className={styles.actions}>
            <MemberMenu member={member} />
            <FollowButton member={member} />
          </div>
        )}
      </div>
      <h2 dir="auto">{member.name}</h2>
      <p className={styles.facts}>
        <span>@{member.login}</span>
        {member.isPrivate && (
          <span className={styles.badge}>
            <Icon name="lock" width="14" height="14" /> {t("private")}
          </span>
        )}
        {member.isFollowingViewer && <span className={styles.badge}>{t("followsYou")}</span>}
        {member.viewerHasMuted && <span className={styles.badge}>{t("muted")}</span>}
      </p>
      <p className={styles.bio} dir="auto">
        <PostText text={member.bio} mentions={[]} />
      </p>
      <p className={styles.facts}>
        <span>
          {t("joined", {
            date: format.dateTime(new Date(member.createdAt), { year: "numeric", month: "long" }),
          })}
        </span>
        <span>{t.rich("posts", { count: member.postCount, ...bold })}</span>
        <Link href={`/@${member.login}/followers`}>
          {t.rich("followers", { count: member.followerCount, ...bold })}
        </Link>
        <Link href={`/@${member.login}/following`}>
          {t.rich("following", { count: member.followingCount, ...bold })}
        </Link>
      </p>
    </section>
  );
}

/** Leads to what only the member sees: a small screen has no other place for it. */
function OwnLinks() {
  const t = useTranslations("nav");
  const [{ data }] = useQuery({ query: ROLE });
  const role = data?.viewer?.role ?? "MEMBER";
  return (
    <div className={styles.actions}>
      <Link className={controls.button} href="/groups">
        <Icon name="group" /> {t("groups")}
      </Link>
      <Link className={controls.button} href="/favourites">
        <Icon name="saved" /> {t("saved")}
      </Link>
      {role !== "MEMBER" && (
        <Link className={controls.button} href="/moderation">
          <Icon name="shield" /> {t("moderation")}
        </Link>
      )}
      <Link className={controls.button} href="/settings">
        <Icon name="settings" /> {t("settings")}
      </Link>
    </div>
  );
}

function Posts({ member }: { member: Member }) {
  const t = useTranslations("profile");
  const reason = member.isSuspended
    ? t("suspended")
    : member.isPrivate && !member.viewerIsFollowing
      ? t("privateHint")
      : undefined;
  return (
    <>
      {member.pinnedPost && (
        <section className={styles.pinned} aria-label={t("pinned")}>
          <p className={styles.badge}>{t("pinned")}</p>
          <PostCard post={member.pinnedPost} />
        </section>
      )}
      {member.viewerHasBlocked ? (
        <p className={controls.notice}>{t("blocked")}</p>
      ) : (
        <Timeline key={reason} login={member.login} reason={reason} />
      )}
    </>
  );
}

function Timeline({ login, reason }: { login: string; reason?: string }) {
  const [view, feed] = useFeed(source, { login });
  return <FeedList view={view} feed={feed} empty={reason} />;
}
