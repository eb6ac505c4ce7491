import { lazy, type ReactNode, Suspense, useSyncExternalStore } from "react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import { useLive } from "../data/graphql/live";
import { useSession } from "../data/session/session";
import { useScrolling } from "../parts/page/scrolling";
import { useComposer } from "../parts/post/composer";
import controls from "../parts/ui/controls.module.css";
import { Icon, type IconName, Logo } from "../parts/ui/icons";
import styles from "./shell.module.css";
import { useUnread } from "./useUnread";

const ComposeDialog = lazy(() => import("../parts/compose/ComposeDialog"));

/** What every screen stands in: the navigation beside it, or below it on a small screen. */
export function Shell({ isMember, children }: { isMember: boolean; children: ReactNode }) {
  const t = useTranslations("app");
  const [composer] = useComposer();
  useScrolling();
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {t("skip")}
      </a>
      {isMember ? <MemberNavigation /> : <OpenNavigation />}
      <main id="content" tabIndex={-1} className={styles.content}>
        <Connection isMember={isMember} />
        {children}
      </main>
      {isMember && composer !== null && (
        <Suspense fallback={null}>
          <ComposeDialog about={composer} />
        </Suspense>
      )}
    </div>
  );
}

function MemberNavigation() {
  const t = useTranslations("nav");
  const unread = useUnread();
  const login = useSession()?.login ?? "";
  const [, compose] = useComposer();
  const [here] = useLocation();
  return (
    <nav className={styles.navigation} aria-label={t("label")}>
      <Brand />
      <Place to="/" icon="home" label={t("home")} />
      <Place to="/explore" icon="explore" label={t("explore")} />
      <Place to="/notifications" icon="bell" label={t("notifications")} count={unread.notifications} />
      <Place to="/messages" icon="mail" label={t("messages")} count={unread.messages} />
      <Place to="/groups" icon="group" label={t("groups")} isExtra />
      <Place to="/favourites" icon="saved" label={t("saved")} isExtra />
      <Place to={`/@${login}`} icon="person" label={t("profile")} />
      {unread.isModerator && <Place to="/moderation" icon="shield" label={t("moderation")} isExtra />}
      <Place to="/settings" icon="settings" label={t("settings")} isExtra />
      <button
        type="button"
        className={styles.compose}
        data-aside={here.startsWith("/messages/")}
        onClick={() => compose({ kind: "post" })}
      >
        <Icon name="feather" />
        <span>{t("compose")}</span>
      </button>
    </nav>
  );
}

function OpenNavigation() {
  const t = useTranslations("nav");
  return (
    <nav className={`${styles.navigation} ${styles.open}`} aria-label={t("label")}>
      <Brand />
      <Place to="/explore" icon="explore" label={t("explore")} />
      <Place to="/groups" icon="group" label={t("groups")} />
      <Link className={controls.button} href="/login">
        {t("logIn")}
      </Link>
      <Link className={controls.primary} href="/signup">
        {t("signUp")}
      </Link>
    </nav>
  );
}

function Brand() {
  const t = useTranslations("app");
  return (
    <Link className={styles.brand} href="/">
      <Logo />
      <span>{t("name")}</span>
    </Link>
  );
}

interface PlaceProps {
  to: string;
  icon: IconName;
  label: string;
  count?: number;
  isExtra?: boolean;
}

function Place({ to, icon, label, count = 0, isExtra }: PlaceProps) {
  const t = useTranslations("nav");
  const [here] = useLocation();
  return (
    <Link
      className={`${styles.place} ${isExtra ? styles.extra : ""}`}
      href={to}
      aria-current={here === to ? "page" : undefined}
    >
      <span className={styles.mark}>
        <Icon name={icon} />
        {count > 0 && <b aria-hidden="true">{count > 99 ? "99+" : count}</b>}
      </span>
      <span className={styles.label}>{label}</span>
      {count > 0 && <span className="unseen">{t("unread", { count })}</span>}
    </Link>
  );
}

/** Says when the screen may be out of date. */
function Connection({ isMember }: { isMember: boolean }) {
  const t = useTranslations("app");
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  const isLive = useLive();
  const text = !isOnline ? t("offline") : isMember && !isLive ? t("reconnecting") : "";
  return (
    <p role="status" className={styles.connection} data-shown={text !== ""}>
      {text}
    </p>
  );
}

function onNetwork(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}
