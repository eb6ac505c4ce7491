import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import type { Picture } from "./fragments";
import { PictureImage } from "./PictureImage";
import styles from "./pictures.module.css";

interface ViewerProps {
  pictures: readonly Picture[];
  first: number;
  onClose: () => void;
}

/** Shows pictures as large as the screen allows, with what they show. The arrow keys lead from one to the next. */
export default function Viewer({ pictures, first, onClose }: ViewerProps) {
  const t = useTranslations("pictures");
  const app = useTranslations("app");
  const [place, setPlace] = useState(first);
  const dialog = useRef<HTMLDialogElement>(null);
  const picture = pictures[place] as Picture;
  const count = pictures.length;
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);

  const move = (step: number) => setPlace((from) => (from + step + count) % count);

  function press(event: KeyboardEvent) {
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
  }

  return (
    <dialog
      ref={dialog}
      className={styles.viewer}
      aria-label={t("picture", { number: place + 1, count })}
      onCancel={onClose}
      onKeyDown={press}
    >
      <div className={styles.bar}>
        <span aria-live="polite">{t("picture", { number: place + 1, count })}</span>
        {count > 1 && (
          <>
            <button
              type="button"
              className={controls.icon}
              aria-label={t("previous")}
              onClick={() => move(-1)}
            >
              <Icon name="back" />
            </button>
            <button type="button" className={controls.icon} aria-label={t("next")} onClick={() => move(1)}>
              <Icon name="back" className={styles.next} />
            </button>
          </>
        )}
        <button type="button" className={controls.icon} aria-label={app("close")} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <figure>
        <PictureImage key={picture.id} picture={picture} sizes="100vw" isWhole />
        {picture.alt && (
          <figcaption aria-hidden="true" dir="auto">
            {picture.alt}
          </figcaption>
        )}
      </figure>
    </dialog>
  );
}
