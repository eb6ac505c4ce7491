import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { type GroupHead, groupFragment, moderates } from "../../parts/groups/fragments";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { MemberRow } from "../../parts/members/MemberRow";
import { Failed } from "../../parts/page/Failed";
import { Missing } from "../../parts/page/Missing";
import { PagedList } from "../../parts/page/PagedList";
import { Problem } from "../../parts/page/Problem";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { authorFragment } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";
import styles from "./groups.module.css";
import { Invite } from "./Invite";
import { RoleMenu } from "./RoleMenu";

const GROUP = graphql(
  `query GroupOfMembers($id: ID!) { node(id: $id) { __typename id ... on Group { ...GroupHead } } }`,
  [groupFragment],
);

const MEMBERS = graphql(
  `
  query GroupMembers($id: ID!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on Group {
        members(first: 30, after: $after) {
          edges { role node { ...Author bio } } pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`,
  [authorFragment],
);

const REQUESTS = graphql(
  `
  query JoinRequests($id: ID!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on Group {
        joinRequests(first: 30, after: $after) {
          nodes { ...Author bio } pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`,
  [authorFragment],
);

/** The members of a group with their roles. Its moderators let others in and look after it here. */
export default function GroupMembers() {
  const t = useTranslations("groups");
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
  const mayInvite = moderates(group) || (group.viewerRole !== null && group.kind !== "PRIVATE");
  return (
    <>
      <Title text={t("membersOf", { name: group.name })} back />
      {mayInvite && <Invite group={group} />}
      {moderates(group) && group.kind === "PRIVATE" && <Requests id={id} />}
      <section aria-labelledby="members">
        <h2 id="members" className={styles.heading}>
          {t("members", { count: group.memberCount })}
        </h2>
        <PagedList document={MEMBERS} variables={{ id }} rows={membersOf} empty={t("nobody")}>
          {(edge) => <Member key={edge.node.id} group={group} edge={edge} />}
        </PagedList>
      </section>
    </>
  );
}

type Edge = NonNullable<ReturnType<typeof membersOf>>["nodes"][number];

function membersOf({ node }: ResultOf<typeof MEMBERS>) {
  const page = node?.__typename === "Group" ? node.members : null;
  return page && { nodes: page.edges, pageInfo: page.pageInfo };
}

function Member({ group, edge: { node, role } }: { group: GroupHead; edge: Edge }) {
  const t = useTranslations("groups");
  const isSelf = useSession()?.userId === node.id;
  return (
    <MemberRow member={node}>
      {role !== "MEMBER" && <span className={styles.badge}>{t(role)}</span>}
      <RoleMenu group={group} member={node} role={role} isSelf={isSelf} />
    </MemberRow>
  );
}

function Requests({ id }: { id: string }) {
  const t = useTranslations("groups");
  const requests = useTranslations("requests");
  const [act, problem] = useGroupAction();
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting" className={styles.heading}>
        {t("requests")}
      </h2>
      <Problem error={problem} />
      <PagedList
        document={REQUESTS}
        variables={{ id }}
        rows={({ node }) => (node?.__typename === "Group" ? node.joinRequests : null)}
        empty={requests("empty")}
      >
        {(member) => (
          <MemberRow key={member.id} member={member}>
            <div className={styles.actions}>
              <button
                type="button"
                className={controls.primary}
                aria-label={`${requests("approve")}: ${member.name}`}
                onClick={() => void act("approve", id, { userIds: [member.id] })}
              >
                {requests("approve")}
              </button>
              <button
                type="button"
                className={controls.button}
                aria-label={`${requests("reject")}: ${member.name}`}
                onClick={() => void act("reject", id, { userIds: [member.id] })}
              >
                {requests("reject")}
              </button>
            </div>
          </MemberRow>
        )}
      </PagedList>
    </section>
  );
}
