import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { Link, useParams } from "wouter";
import { useOnLive } from "../../data/graphql/live";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { useLiveEvents } from "../../data/graphql/useLiveEvents";
import { useSession } from "../../data/session/session";
import { eventFragment, takeEvent } from "../../parts/feed/events";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { type GroupHead, groupFragment, mayPost, moderates } from "../../parts/groups/fragments";
import { Failed } from "../../parts/page/Failed";
import { Missing } from "../../parts/page/Missing";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { useComposer } from "../../parts/post/composer";
import { entriesFragment } from "../../parts/post/fragments";
import { PostText } from "../../parts/post/PostText";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import { GroupMenu } from "./GroupMenu";
import styles from "./groups.module.css";
import { KindBadge } from "./KindBadge";
import { Membership } from "./Membership";

const GROUP = graphql(
  `
  query Group($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Group { ...GroupHead members(first: 1) { nodes { id } } }
    }
  }
`,
  [groupFragment],
);

const POSTS = graphql(
  `
  query GroupPosts($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    node(id: $id) {
      __typename
      id
      ... on Group { timeline(first: $first, after: $after, last: $last, before: $before) { ...Entries } }
    }
  }
`,
  [entriesFragment],
);

const LIVE = graphql(
  `subscription GroupLive($id: ID!, $after: String) { groupTimeline(groupId: $id, after: $after) { ...FeedEvent } }`,
  [eventFragment],
);

const source: Source<ResultOf<typeof POSTS>> = {
  name: "group",
  document: POSTS,
  entries: (data) => (data.node?.__typename === "Group" ? data.node.timeline : undefined),
};

/** A group, and what was posted in it. */
export default function Group() {
  const { id } = useParams<{ id: string }>();
  const [{ data, error, fetching }, again] = useQuery({
    query: GROUP,
    variables: { id },
    requestPolicy: "cache-and-network",
  });
  const group = data?.node?.__typename === "Group" ? data.node : undefined;
  if (fetching && !group) return <Waiting />;
  if (!data) return <Failed error={error} onRetry={again} />;
  if (!group) return <Missing />;
  return (
    <>
      <Title text={group.name} back />
      <About group={group} isOpen={group.members !== null} />
      {group.members === null ? <Closed group={group} /> : <Posts key={id} id={id} />}
    </>
  );
}

function About({ group, isOpen }: { group: GroupHead; isOpen: boolean }) {
  const t = useTranslations("groups");
  const isMember = useSession() !== null;
  const [, compose] = useComposer();
  const { id, name, description, memberCount, viewerRole } = group;
  return (
    <section className={styles.about} aria-label={name}>
      <p className={styles.facts}>
        <KindBadge group={group} />
        {isOpen && <Link href={`/groups/${id}/members`}>{t("members", { count: memberCount })}</Link>}
        {viewerRole && viewerRole !== "MEMBER" && <span className={styles.badge}>{t(viewerRole)}</span>}
      </p>
      <p className={styles.text} dir="auto">
        <PostText text={description} mentions={[]} />
      </p>
      <div className={styles.actions}>
        {mayPost(group) && (
          <button
            type="button"
            className={controls.primary}
            onClick={() => compose({ kind: "post", group: { id, name } })}
          >
            <Icon name="feather" /> {t("post")}
          </button>
        )}
        <Membership group={group} />
        {(moderates(group) || (viewerRole === "MEMBER" && group.kind !== "PRIVATE")) && (
          <Link className={controls.button} href={`/groups/${id}/members`}>
            {t(moderates(group) ? "look" : "invite")}
          </Link>
        )}
        {viewerRole === "OWNER" && (
          <Link className={controls.button} href={`/groups/${id}/edit`}>
            {t("edit")}
          </Link>
        )}
        {isMember && <GroupMenu group={group} />}
      </div>
    </section>
  );
}

function Closed({ group }: { group: GroupHead }) {
  const t = useTranslations("groups");
  return <p className={controls.notice}>{t(group.isHidden ? "hiddenHint" : "closed")}</p>;
}

function Posts({ id }: { id: string }) {
  const t = useTranslations("groups");
  const [view, feed] = useFeed(source, { id });
  const userId = useSession()?.userId;
  useLiveEvents(LIVE, { id }, (data) => takeEvent(data.groupTimeline, feed, userId));
  useOnLive(feed.check);
  return <FeedList view={view} feed={feed} empty={t("emptyPosts")} />;
}
