import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import controls from "./controls.module.css";

interface DialogProps {
  title: string;
  role?: "alertdialog";
  /** What stands beside the title. */
  beside?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog, of the browser's own kind: it holds the focus, and Escape closes it. */
export function Dialog({ title, role, beside, onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // It closes before it leaves the document, so that the focus goes back to where it was.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog ref={dialog} role={role} className={controls.dialog} aria-labelledby={id} onCancel={onClose}>
      <header className={controls.header}>
        <h2 id={id}>{title}</h2>
        {beside}
      </header>
      {children}
    </dialog>
  );
}
