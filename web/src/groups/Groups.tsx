import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { PagedList } from "../app/PagedList";
import { Title } from "../app/Title";
import { graphql } from "../graphql/tada";
import { useSession } from "../session/session";
import controls from "../ui/controls.module.css";
import { groupFragment } from "./fragments";
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
