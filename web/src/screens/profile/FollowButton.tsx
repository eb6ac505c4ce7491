import { useTranslations } from "use-intl";
import { type MemberAction, useMemberAction } from "../../parts/members/members";
import controls from "../../parts/ui/controls.module.css";

interface FollowButtonProps {
  member: {
    id: string;
    name: string;
    isPrivate: boolean;
    viewerIsFollowing: boolean;
    viewerHasRequestedFollow: boolean;
    viewerHasBlocked: boolean;
  };
}

/** Follows, asks to follow, takes either back, or ends a block. */
export function FollowButton({ member }: FollowButtonProps) {
  const t = useTranslations("profile");
  const act = useMemberAction();
  const { viewerHasBlocked, viewerHasRequestedFollow, viewerIsFollowing, isPrivate } = member;
  const [action, label]: [MemberAction, string] = viewerHasBlocked
    ? ["unblock", t("unblock")]
    : viewerIsFollowing
      ? ["unfollow", t("followed")]
      : viewerHasRequestedFollow
        ? ["unfollow", t("requested")]
        : ["follow", isPrivate ? t("request") : t("follow")];
  return (
    <button
      type="button"
      className={action === "follow" ? controls.primary : controls.button}
      aria-pressed={viewerHasBlocked ? undefined : action !== "follow"}
      aria-label={action === "unblock" ? undefined : `${label}: ${member.name}`}
      onClick={() => void act(action, member.id)}
    >
      {label}
    </button>
  );
}
