import { useEffect } from "react";
import { useTranslations } from "use-intl";
import { graphql, type ResultOf } from "../../data/graphql/tada";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import controls from "../../parts/ui/controls.module.css";
import { notificationFragment, Row } from "./Row";
import { useMarkRead } from "./useMarkRead";

const NOTIFICATIONS = graphql(
  `
  query Notifications($after: String) {
    viewer {
      id
      unreadNotificationCount
      notifications(first: 30, after: $after) {
        nodes { ...Notice } pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [notificationFragment],
);

type Page = ResultOf<typeof NOTIFICATIONS>;

/** What others did that concerns the member. New ones appear live. */
export default function Notifications() {
  const t = useTranslations("notifications");
  return (
    <>
      <Title text={t("title")} />
      <PagedList
        document={NOTIFICATIONS}
        rows={(data) => data.viewer?.notifications}
        empty={t("empty")}
        isLive
        above={(data) => <MarkRead page={data} />}
      >
        {(notification) => <Row key={notification.id} notification={notification} />}
      </PagedList>
    </>
  );
}

/** Marks all notifications read: by a button, or when the member leaves the screen. */
function MarkRead({ page: { viewer } }: { page: Page }) {
  const t = useTranslations("notifications");
  const markRead = useMarkRead();
  const newest = viewer?.unreadNotificationCount ? viewer.notifications.nodes[0]?.id : undefined;
  useEffect(() => {
    if (newest) return () => void markRead(newest); // whoever leaves the screen has seen them
  }, [newest, markRead]);
  if (!newest) return null;
  return (
    <div className={`${controls.panel} ${controls.row}`}>
      <button type="button" className={controls.button} onClick={() => void markRead(newest)}>
        {t("markRead")}
      </button>
    </div>
  );
}
