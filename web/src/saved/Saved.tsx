import { useTranslations } from "use-intl";
import { Title } from "../app/Title";
import { FeedList } from "../feed/FeedList";
import type { Source } from "../feed/feed";
import { useFeed } from "../feed/useFeed";
import { graphql, type ResultOf } from "../graphql/tada";
import { postFragment } from "../post/fragments";
import controls from "../ui/controls.module.css";

const SAVED = graphql(
  `
  query Saved($first: Int, $after: String) {
    viewer {
      id
      favourites(first: $first, after: $after) {
        edges { cursor node { ...Card } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`,
  [postFragment],
);

const source: Source<ResultOf<typeof SAVED>> = {
  name: "saved",
  document: SAVED,
  entries: (data) =>
    data.viewer && {
      edges: data.viewer.favourites.edges.map((edge) => ({ ...edge, repostedBy: [], repostedByCount: 0 })),
      pageInfo: data.viewer.favourites.pageInfo,
    },
};

/** The posts that the member has favourited. */
export default function Saved() {
  const t = useTranslations("saved");
  const [view, feed] = useFeed(source);
  return (
    <>
      <Title text={t("title")}>
        <span className={controls.hint}>{t("hint")}</span>
      </Title>
      <FeedList view={view} feed={feed} />
    </>
  );
}
