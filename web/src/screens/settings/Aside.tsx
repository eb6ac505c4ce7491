import { useState } from "react";
import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { MemberRow } from "../../parts/members/MemberRow";
import { useMemberAction } from "../../parts/members/members";
import { Missing } from "../../parts/page/Missing";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import { authorFragment } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";

const BLOCKED = graphql(
  `
  query Blocked($after: String) {
    viewer { id members: blocked(first: 30, after: $after) { nodes { ...Author bio } pageInfo { hasNextPage endCursor } } }
  }
`,
  [authorFragment],
);

const MUTED = graphql(
  `
  query Muted($after: String) {
    viewer { id members: muted(first: 30, after: $after) { nodes { ...Author bio } pageInfo { hasNextPage endCursor } } }
  }
`,
  [authorFragment],
);

const kinds = {
  blocked: { query: BLOCKED, action: "unblock" },
  muted: { query: MUTED, action: "unmute" },
} as const;

/** The members whom the viewer blocks or mutes. */
export default function Aside() {
  const t = useTranslations("privacy");
  const profile = useTranslations("profile");
  const { kind } = useParams<{ kind: string }>();
  const act = useMemberAction();
  const [released, setReleased] = useState<readonly string[]>([]);
  if (kind !== "blocked" && kind !== "muted") return <Missing />;
  const { query, action } = kinds[kind];

  async function release(id: string) {
    const { error } = await act(action, id);
    if (!error) setReleased((before) => [...before, id]);
  }

  return (
    <>
      <Title text={t(kind)} back />
      <PagedList
        key={kind}
        document={query}
        rows={({ viewer }) =>
          viewer && {
            ...viewer.members,
            nodes: viewer.members.nodes.filter(({ id }) => !released.includes(id)),
          }
        }
        empty={t("nobody")}
      >
        {(member) => (
          <MemberRow key={member.id} member={member}>
            <button
              type="button"
              className={controls.button}
              aria-label={`${profile(action)}: ${member.name}`}
              onClick={() => void release(member.id)}
            >
              {profile(action)}
            </button>
          </MemberRow>
        )}
      </PagedList>
    </>
  );
}
