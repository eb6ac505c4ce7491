import { useFormatter, useNow } from "use-intl";

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;

/** When something happened: relative within a week, else the date. */
export function Time({ at }: { at: string }) {
  const format = useFormatter();
  const now = useNow({ updateInterval: MINUTE });
  const date = new Date(at);
  const full = format.dateTime(date, { dateStyle: "long", timeStyle: "short" });
  const isRecent = now.getTime() - date.getTime() < WEEK;
  return (
    <time dateTime={at} title={full}>
      {isRecent
        ? format.relativeTime(date, { now: date > now ? date : now, style: "narrow" })
        : format.dateTime(date, { dateStyle: "medium" })}
    </time>
  );
}
