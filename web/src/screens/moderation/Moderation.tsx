import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import { Report, reportFragment } from "./Report";

const QUEUE = graphql(
  `
  query Queue($after: String) {
    reports(state: OPEN, first: 20, after: $after) {
      nodes { ...OpenReport } pageInfo { hasNextPage endCursor }
    }
  }
`,
  [reportFragment],
);

/** The reports that wait for a decision, the most reported subject first. Only moderators see them. */
export default function Moderation() {
  const t = useTranslations("moderation");
  return (
    <>
      <Title text={t("title")} />
      <PagedList document={QUEUE} rows={(data) => data.reports && open(data.reports)} empty={t("empty")}>
        {(report) => <Report key={report.id} report={report} />}
      </PagedList>
    </>
  );
}

/** Leaves out the reports that were decided since the page was read. */
function open<Page extends { nodes: { state: string }[] }>(page: Page): Page {
  return { ...page, nodes: page.nodes.filter(({ state }) => state === "OPEN") };
}
