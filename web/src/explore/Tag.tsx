import { useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useParams } from "wouter";
import { Title } from "../app/Title";
import { FeedList } from "../feed/FeedList";
import type { Source } from "../feed/feed";
import { useFeed } from "../feed/useFeed";
import { graphql, type ResultOf } from "../graphql/tada";
import { entriesFragment } from "../post/fragments";
import controls from "../ui/controls.module.css";
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
