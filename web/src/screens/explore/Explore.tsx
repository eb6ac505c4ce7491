import { useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import type { ResultOf } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { Title } from "../../parts/page/Title";
import styles from "./explore.module.css";
import { MemberSearch } from "./MemberSearch";
import { type Order, OrderChoice } from "./OrderChoice";
import { PUBLIC, TRENDS } from "./queries";

const source: Source<ResultOf<typeof PUBLIC>> = {
  name: "public",
  document: PUBLIC,
  entries: (data) => data.publicTimeline,
};

/** What everybody may read: members to find, what is talked about, and all public posts. */
export default function Explore() {
  const t = useTranslations("explore");
  const welcome = useTranslations("session")("welcome");
  const isMember = useSession() !== null;
  const [order, setOrder] = useState<Order>("RECENT");
  const [view, feed] = useFeed(source, { order });
  return (
    <>
      <Title text={t("title")} />
      {!isMember && <p className={styles.welcome}>{welcome}</p>}
      <MemberSearch />
      <Trends />
      <OrderChoice order={order} onChoose={setOrder} />
      <FeedList view={view} feed={feed} />
    </>
  );
}

function Trends() {
  const t = useTranslations("explore");
  const [{ data }] = useQuery({ query: TRENDS, requestPolicy: "cache-and-network" });
  const trends = data?.trendingHashtags;
  // The list has its height before the answer comes: nothing below it moves.
  return (
    <section className={styles.trends} aria-labelledby="trends">
      <h2 id="trends">{t("trends")}</h2>
      <ul>
        {trends?.length === 0 && <li>{t("noTrends")}</li>}
        {trends?.map(({ name, postCount }) => (
          <li key={name}>
            <Link href={`/tags/${encodeURIComponent(name)}`}>#{name}</Link>{" "}
            <span>{t("posts", { count: postCount })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
