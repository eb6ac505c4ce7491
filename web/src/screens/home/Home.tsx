import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useOnLive } from "../../data/graphql/live";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { useLiveEvents } from "../../data/graphql/useLiveEvents";
import { useSession } from "../../data/session/session";
import { eventFragment, takeEvent } from "../../parts/feed/events";
import { FeedList } from "../../parts/feed/FeedList";
import type { Source } from "../../parts/feed/feed";
import { useFeed } from "../../parts/feed/useFeed";
import { Title } from "../../parts/page/Title";
import controls from "../../parts/ui/controls.module.css";
import { HOME } from "./queries";

const LIVE = graphql(
  `subscription HomeLive($after: String) { homeTimeline(after: $after) { ...FeedEvent } }`,
  [eventFragment],
);

const source: Source<ResultOf<typeof HOME>> = {
  name: "home",
  document: HOME,
  entries: (data) => data.homeTimeline,
};

/** The member's home. What comes live waits until the member asks for it, so that nothing moves while they read. */
export default function Home() {
  const t = useTranslations("home");
  const [view, feed] = useFeed(source);
  const userId = useSession()?.userId;
  useLiveEvents(LIVE, {}, (data) => takeEvent(data.homeTimeline, feed, userId));
  useOnLive(feed.check);
  return (
    <>
      <Title text={t("title")} />
      <FeedList
        view={view}
        feed={feed}
        empty={
          <>
            <p>{t("empty")}</p>
            <p>
              <Link className={controls.button} href="/explore">
                {t("discover")}
              </Link>
            </p>
          </>
        }
      />
    </>
  );
}
