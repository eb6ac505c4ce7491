import { type FragmentOf, graphql } from "../../data/graphql/tada";

export const pictureFragment = graphql(`
  fragment Picture on Image {
    id
    alt
    blurhash
    width
    height
    focus { x y }
    small: url(size: SMALL)
    large: url
  }
`);

export type Picture = FragmentOf<typeof pictureFragment>;

/** A point of a picture, each number from -1 to 1, to the right and upwards. */
export type Focus = NonNullable<Picture["focus"]>;

/** Returns which part of a picture stays visible when it is cropped, as CSS says it. */
export function positionOf(focus: Focus | null): string {
  return focus ? `${(1 + focus.x) * 50}% ${(1 - focus.y) * 50}%` : "50% 50%";
}
