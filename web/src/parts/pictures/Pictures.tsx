import { lazy, Suspense, useState } from "react";
import { useTranslations } from "use-intl";
import type { Picture } from "./fragments";
import { PictureImage } from "./PictureImage";
import styles from "./pictures.module.css";

const Viewer = lazy(() => import("./Viewer"));

const WHOLE = "(min-width: 700px) 530px, calc(100vw - 92px)"; // beside the avatar
const HALF = "(min-width: 700px) 265px, calc(50vw - 46px)";

/** The pictures of a post or message. Each opens the viewer. */
export function Pictures({ pictures }: { pictures: readonly Picture[] }) {
  const t = useTranslations("pictures");
  const [shown, setShown] = useState<number | null>(null);
  if (pictures.length === 0) return null;
  return (
    <>
      <ul className={styles.pictures} data-count={pictures.length}>
        {pictures.map((picture, place) => (
          <li key={picture.id}>
            <button
              type="button"
              aria-label={t("open", { number: place + 1, count: pictures.length, alt: picture.alt })}
              onClick={() => setShown(place)}
            >
              <PictureImage picture={picture} sizes={pictures.length === 1 ? WHOLE : HALF} />
            </button>
          </li>
        ))}
      </ul>
      {shown !== null && (
        <Suspense fallback={null}>
          <Viewer pictures={pictures} first={shown} onClose={() => setShown(null)} />
        </Suspense>
      )}
    </>
  );
}
