import { Menu, MenuButton, MenuItem, MenuProvider } from "@ariakit/react";
import { lazy, Suspense, useState } from "react";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { useMemberAction } from "../../parts/members/members";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import type { Member } from "./Profile";

const ReportDialog = lazy(() => import("../../parts/reports/ReportDialog"));

/** Messages, mutes, blocks or blocks a member, and takes it back. */
export function MemberMenu({ member }: { member: Member }) {
  const t = useTranslations("profile");
  const [isReporting, setReporting] = useState(false);
  const act = useMemberAction();
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const { id, login, name, viewerHasMuted, viewerHasBlocked } = member;
  return (
    <>
      <MenuProvider placement="bottom-end">
        <MenuButton className={controls.icon} aria-label={t("more")}>
          <Icon name="more" />
        </MenuButton>
        <Menu className={controls.menu} gutter={4} unmountOnHide>
          <MenuItem onClick={() => go(`/messages/new/${login}`)}>
            <Icon name="mail" /> {t("message")}
          </MenuItem>
          <MenuItem onClick={() => void act(viewerHasMuted ? "unmute" : "mute", id)}>
            <Icon name="mute" /> {viewerHasMuted ? t("unmute") : t("mute")}
          </MenuItem>
          <MenuItem onClick={() => (viewerHasBlocked ? void act("unblock", id) : setAsking(true))}>
            <Icon name="block" /> {viewerHasBlocked ? t("unblock") : t("block")}
          </MenuItem>
          <MenuItem onClick={() => setReporting(true)}>
            <Icon name="flag" /> {t("report")}
          </MenuItem>
        </Menu>
      </MenuProvider>
      {isReporting && (
        <Suspense fallback={null}>
          <ReportDialog subjectId={id} onClose={() => setReporting(false)} />
        </Suspense>
      )}
      {isAsking && (
        <Confirm
          title={t("blockTitle", { name })}
          hint={t("blockHint")}
          action={t("block")}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void act("block", id);
          }}
        />
      )}
    </>
  );
}
