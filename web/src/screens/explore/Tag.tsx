import { useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { Title } from "../../parts/page/Title";
import { entriesFragment } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";
import { type Order, OrderChoice } from "./OrderChoice";

const TAG = graphql(
  `
  query Tag($name: String!, $first: Int, $after: String, $last: Int, $before: String, $order: TimelineOrder) {
    hashtag(name: $name) {
      name
      timeline(first: $first, after: $after, last: $last, before: $before, order: $order) { ...Entries }
    }
  }
`,
  [entriesFragment],
);

const COUNT = graphql(`query TagCount($name: String!) { hashtag(name: $name) { name postCount } }`);
const NONE = {
  edges: [],
  pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
};

const source: Source<ResultOf<typeof TAG>> = {
  name: "tag",
  document: TAG,
  entries: (data) => data.hashtag?.timeline ?? NONE,
};

/** The posts that carry a hashtag. */
export default function Tag() {
  const t = useTranslations("tag");
  const name = decodeURIComponent(useParams<{ name: string }>().name);
  const [order, setOrder] = useState<Order>("RECENT");
  const [view, feed] = useFeed(source, { name, order });
  const [{ data }] = useQuery({ query: COUNT, variables: { name } });
  return (
    <>
      <Title text={t("title", { name })} back>
        <span className={controls.hint}>
          {data?.hashtag && t("count", { count: data.hashtag.postCount })}
        </span>
      </Title>
      <OrderChoice order={order} onChoose={setOrder} />
      <FeedList view={view} feed={feed} />
    </>
  );
}
