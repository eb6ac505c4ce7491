import { useFormatter, useTranslations } from "use-intl";
import { useSession } from "../../data/session/session";
import type { Author } from "../../parts/post/fragments";

/** Returns the other participants of a conversation, and their names in one line. */
export function useOthers(participants: readonly Author[]): [Author[], string] {
  const t = useTranslations("messages");
  const format = useFormatter();
  const userId = useSession()?.userId;
  const others = participants.filter(({ id }) => id !== userId);
  return [others, others.length === 0 ? t("alone") : format.list(others.map(({ name }) => name))];
}
