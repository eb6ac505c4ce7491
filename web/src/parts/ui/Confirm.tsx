import { useTranslations } from "use-intl";
import controls from "./controls.module.css";
import { Dialog } from "./Dialog";

interface ConfirmProps {
  title: string;
  hint: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, hint, action, onConfirm, onClose }: ConfirmProps) {
  const t = useTranslations("post");
  return (
    <Dialog title={title} role="alertdialog" onClose={onClose}>
      <p>{hint}</p>
      <div className={controls.row}>
        <button type="button" className={controls.button} onClick={onClose}>
          {t("cancel")}
        </button>
        <button type="button" className={controls.danger} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
