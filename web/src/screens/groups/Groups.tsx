import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { groupFragment } from "../../parts/groups/fragments";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import controls from "../../parts/ui/controls.module.css";
import { GroupRow } from "./GroupRow";
import styles from "./groups.module.css";

const MINE = graphql(
  `
  query MyGroups($after: String) {
    viewer { id groups(first: 20, after: $after) { nodes { ...GroupHead } pageInfo { hasNextPage endCursor } } }
  }
`,
  [groupFragment],
);

const LARGEST = graphql(
  `
  query LargestGroups($after: String) {
    groups(first: 20, after: $after) { nodes { ...GroupHead } pageInfo { hasNextPage endCursor } }
  }
`,
  [groupFragment],
);

/** The groups that the member is in, and the largest ones of all. */
export default function Groups() {
  const t = useTranslations("groups");
  const isMember = useSession() !== null;
  return (
    <>
      <Title text={t("title")}>
        {isMember && (
          <Link className={controls.button} href="/groups/new">
            {t("new")}
          </Link>
        )}
      </Title>
      {isMember && (
        <section aria-labelledby="mine">
          <h2 id="mine" className={styles.heading}>
            {t("mine")}
          </h2>
          <PagedList document={MINE} rows={(data) => data.viewer?.groups} empty={t("emptyMine")}>
            {(group) => <GroupRow key={group.id} group={group} />}
          </PagedList>
        </section>
      )}
      <section aria-labelledby="largest">
        <h2 id="largest" className={styles.heading}>
          {t("largest")}
        </h2>
        <PagedList document={LARGEST} rows={(data) => data.groups} empty={t("emptyLargest")}>
          {(group) => <GroupRow key={group.id} group={group} />}
        </PagedList>
      </section>
    </>
  );
}
