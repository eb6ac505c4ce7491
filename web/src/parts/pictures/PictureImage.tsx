import { decodeBlurHash } from "fast-blurhash";
import { useState } from "react";
import { type Picture, positionOf } from "./fragments";
import styles from "./pictures.module.css";

const SMALL_SIDE = 640; // pixels of the small form's longer side, see `ImageSize`
const BLUR_SIDE = 32; // pixels; the browser smooths it when it enlarges it

interface PictureImageProps {
  picture: Picture;
  /** How wide it is shown, as the attribute `sizes` says it. */
  sizes: string;
  isWhole?: boolean;
}

/** A picture in its box. The blurred form is behind it, also when the link has expired and there is no network. */
export function PictureImage({ picture, sizes, isWhole }: PictureImageProps) {
  const { alt, blurhash, focus, height, large, small, width } = picture;
  const [failed, setFailed] = useState("");
  const smallWidth = Math.round(Math.min(1, SMALL_SIDE / Math.max(width, height)) * width);
  return (
    <span className={styles.image} data-whole={isWhole} style={{ aspectRatio: `${width} / ${height}` }}>
      {!isWhole && <canvas ref={(canvas) => blur(canvas, blurhash)} />}
      {failed === large ? (
        <span>{alt}</span>
      ) : (
        <img
          src={small}
          srcSet={smallWidth < width ? `${small} ${smallWidth}w, ${large} ${width}w` : undefined}
          sizes={sizes}
          width={width}
          height={height}
          alt={alt}
          loading="lazy"
          decoding="async"
          style={{ objectPosition: positionOf(focus) }}
          onError={() => setFailed(large)}
        />
      )}
    </span>
  );
}

function blur(canvas: HTMLCanvasElement | null, blurhash: string): void {
  if (!canvas || canvas.width === BLUR_SIDE) return;
  canvas.width = BLUR_SIDE;
  canvas.height = BLUR_SIDE;
  const pixels = new Uint8ClampedArray(decodeBlurHash(blurhash, BLUR_SIDE, BLUR_SIDE));
  canvas.getContext("2d")?.putImageData(new ImageData(pixels, BLUR_SIDE, BLUR_SIDE), 0, 0);
}
