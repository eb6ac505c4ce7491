import { type KeyboardEvent, type MouseEvent, useId } from "react";
import { useTranslations } from "use-intl";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import { type Focus, positionOf } from "./fragments";
import styles from "./pictures.module.css";
import { type Chosen, MOST, type Uploads } from "./useUploads";

const ACCEPTED = "image/jpeg,image/png,image/webp,image/gif";
const STEP = 0.1; // of half a side, for a press of an arrow key
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

/** A button that lets the member choose pictures. */
export function PictureButton({
  uploads,
  most = MOST,
  label,
}: {
  uploads: Uploads;
  most?: number;
  label?: string;
}) {
  const t = useTranslations("pictures");
  const id = useId();
  return (
    <>
      <input
        id={id}
        className="unseen"
        type="file"
        accept={ACCEPTED}
        multiple={most > 1}
        disabled={uploads.chosen.length >= most}
        aria-label={label ?? t("add")}
        onChange={({ target }) => {
          uploads.add(target.files ?? []);
          target.value = ""; // the same file may be chosen again
        }}
      />
      <label htmlFor={id} className={styles.choose} data-wide={label !== undefined} title={t("drop")}>
        <Icon name="picture" /> {label}
      </label>
    </>
  );
}

/** The chosen pictures: how far each was sent, what it shows, and the point that stays visible. */
export function ChosenPictures({ uploads }: { uploads: Uploads }) {
  if (uploads.chosen.length === 0) return null;
  return (
    <ul className={styles.chosen}>
      {uploads.chosen.map((picture, place) => (
        <ChosenPicture key={picture.key} picture={picture} number={place + 1} uploads={uploads} />
      ))}
    </ul>
  );
}

interface ChosenPictureProps {
  picture: Chosen;
  number: number;
  uploads: Uploads;
}

function ChosenPicture({ picture, number, uploads }: ChosenPictureProps) {
  const t = useTranslations("pictures");
  const id = useId();
  const { alt, error, file, key, share, uploadId } = picture;
  return (
    <li>
      <FocusPoint picture={picture} number={number} onChange={(focus) => uploads.change(key, { focus })} />
      <div className={controls.field}>
        <label htmlFor={id}>{t("alt", { number })}</label>
        <textarea
          id={id}
          rows={2}
          dir="auto"
          placeholder={t("altHint")}
          value={alt}
          onChange={({ target }) => uploads.change(key, { alt: target.value })}
        />
        {!uploadId && !error && (
          <progress
            aria-label={t(share < 1 ? "sending" : "processing", { number })}
            value={share < 1 ? share : undefined}
          />
        )}
        {error && (
          <p className={controls.error} role="alert">
            {error === "INVALID" || error === "TOO_LONG" ? t(error) : t("failed")}
          </p>
        )}
        {error === "network" && file && (
          <button type="button" className={controls.button} onClick={() => uploads.retry(key)}>
            {t("retry")}
          </button>
        )}
      </div>
      <button
        type="button"
        className={controls.icon}
        aria-label={t("remove", { number })}
        onClick={() => uploads.remove(key)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

interface FocusPointProps {
  picture: Chosen;
  number: number;
  onChange: (focus: Focus) => void;
}

/** The point of a picture that stays visible when it is cropped. A click sets it, and the arrow keys move it. */
function FocusPoint({ picture, number, onChange }: FocusPointProps) {
  const t = useTranslations("pictures");
  const { x, y } = picture.focus ?? { x: 0, y: 0 };
  const [left, top] = [Math.round((1 + x) * 50), Math.round((1 - y) * 50)];

  function point(event: MouseEvent<HTMLButtonElement>) {
    if (event.detail === 0) return; // a key
    const box = event.currentTarget.getBoundingClientRect();
    onChange({
      x: within(((event.clientX - box.left) / box.width) * 2 - 1),
      y: within(1 - ((event.clientY - box.top) / box.height) * 2),
    });
  }

  function press(event: KeyboardEvent) {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    onChange({ x: within(x + arrow[0]), y: within(y + arrow[1]) });
  }

  return (
    <button
      type="button"
      className={styles.focus}
      aria-label={t("focus", { number, x: left, y: top })}
      onClick={point}
      onKeyDown={press}
    >
      {picture.preview && (
        <img src={picture.preview} alt="" style={{ objectPosition: positionOf({ x, y }) }} />
      )}
      <span style={{ left: `${left}%`, top: `${top}%` }} />
    </button>
  );
}

function within(part: number): number {
  return Math.round(Math.min(1, Math.max(-1, part)) * 100) / 100;
}
