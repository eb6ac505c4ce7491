import { useTranslations } from "use-intl";
import styles from "./explore.module.css";

export type Order = "RECENT" | "IMPORTANT";

/** Sorts a timeline by time or by importance. */
export function OrderChoice({ order, onChoose }: { order: Order; onChoose: (order: Order) => void }) {
  const t = useTranslations("explore");
  return (
    <fieldset className={styles.orders}>
      <legend className="unseen">{t("order")}</legend>
      {(["RECENT", "IMPORTANT"] as const).map((one) => (
        <label key={one}>
          <input type="radio" name="order" checked={order === one} onChange={() => onChoose(one)} />
          <span>{t(one === "RECENT" ? "recent" : "important")}</span>
        </label>
      ))}
    </fieldset>
  );
}
