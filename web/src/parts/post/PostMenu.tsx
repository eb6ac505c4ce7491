import { lazy, Suspense, useState } from "react";
import { useTranslations } from "use-intl";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import type { Body } from "./fragments";

const PostMenuOpen = lazy(() => import("./PostMenuOpen"));

/** The button of a post's menu. The menu itself is loaded when it is first opened. */
export function PostMenu({ post }: { post: Body }) {
  const t = useTranslations("post");
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      className={controls.icon}
      aria-label={t("more")}
      aria-haspopup="menu"
      onClick={() => setWanted(true)}
    >
      <Icon name="more" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <PostMenuOpen post={post} />
    </Suspense>
  ) : (
    button
  );
}
