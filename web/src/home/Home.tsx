import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Title } from "../app/Title";
import { eventFragment, takeEvent } from "../feed/events";
import { FeedList } from "../feed/FeedList";
import type { Source } from "../feed/feed";
import { useFeed } from "../feed/useFeed";
import { useOnLive } from "../graphql/live";
import { graphql, type ResultOf } from "../graphql/tada";
import { useLiveEvents } from "../graphql/useLiveEvents";
import { useSession } from "../session/session";
import controls from "../ui/controls.module.css";
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
