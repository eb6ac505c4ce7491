import { useTranslations } from "use-intl";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { Title } from "../../parts/page/Title";
import { postFragment } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";

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
