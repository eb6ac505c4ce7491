import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { MemberRow } from "../../parts/members/MemberRow";
import { relationFragment } from "../../parts/members/members";
import { Missing } from "../../parts/page/Missing";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import { authorFragment } from "../../parts/post/fragments";
import { FollowButton } from "./FollowButton";

const FOLLOWERS = graphql(
  `
  query Followers($login: String!, $after: String) {
    user(login: $login) {
      id name
      members: followers(first: 30, after: $after) {
        nodes { ...Author ...Relation bio isPrivate } pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [authorFragment, relationFragment],
);

const FOLLOWING = graphql(
  `
  query Following($login: String!, $after: String) {
    user(login: $login) {
      id name
      members: following(first: 30, after: $after) {
        nodes { ...Author ...Relation bio isPrivate } pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [authorFragment, relationFragment],
);

const kinds = {
  followers: { query: FOLLOWERS, title: "followersTitle" },
  following: { query: FOLLOWING, title: "followingTitle" },
} as const;

/** Who follows a member, or whom they follow. */
export default function Relations() {
  const t = useTranslations("profile");
  const { login, kind } = useParams<{ login: string; kind: string }>();
  if (kind !== "followers" && kind !== "following") return <Missing />;
  return (
    <>
      <Title text={`${t(kinds[kind].title)} · @${login}`} back />
      <List key={`${login} ${kind}`} login={login} kind={kind} />
    </>
  );
}

function List({ login, kind }: { login: string; kind: keyof typeof kinds }) {
  const t = useTranslations("feed");
  const session = useSession();
  return (
    <PagedList
      document={kinds[kind].query}
      variables={{ login }}
      rows={(data) => data.user?.members}
      empty={t("empty")}
    >
      {(member) => (
        <MemberRow key={member.id} member={member}>
          {session !== null && session.userId !== member.id && <FollowButton member={member} />}
        </MemberRow>
      )}
    </PagedList>
  );
}
