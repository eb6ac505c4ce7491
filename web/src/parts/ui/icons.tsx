import type { SVGProps } from "react";

const PATHS = {
  home: "M4 11.5 12 4l8 7.5M6.5 10v9.5h11V10M10 19.5v-5h4v5",
  explore: "M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13ZM15.5 15.5 20.5 20.5",
  bell: "M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 1.5h-15L6 16.5ZM10 20.5h4",
  flag: "M6 20.5V4.5h11l-2 4 2 4H6",
  shield: "M12 3.5l7 2.5v5c0 4.5-3 8-7 9.5-4-1.5-7-5-7-9.5V6l7-2.5Z",
  mail: "M4 6.5h16v11H4v-11ZM4.5 7l7.5 6 7.5-6",
  send: "M4.5 12 20 5l-6 15-2.5-6L4.5 12ZM11.5 14 20 5",
  saved: "M7 4.5h10V20l-5-4-5 4V4.5Z",
  person: "M12 11.5a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5ZM4.5 20c.8-4 3.8-6 7.5-6s6.7 2 7.5 6",
  group:
    "M9 11a3.25 3.25 0 1 0 0-6.5 3.25 3.25 0 0 0 0 6.5ZM2.5 19c.6-3.5 3.2-5.2 6.5-5.2s5.9 1.7 6.5 5.2M15 4.8a3.2 3.2 0 0 1 0 6M17.5 14.3c2.2.7 3.5 2.2 4 4.7",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
  picture: "M4 5.5h16v13H4v-13ZM4.5 17 10 11l3.5 4 2-2 4 4.5M15.5 9.5h.01",
  feather: "M5 19 14 10M8 16h6l4.5-4.5c2-2 2-5.5 1.5-7.5-2-.5-5.5-.5-7.5 1.5L8 10v6Z",
  like: "M12 20C6 15.5 3.5 12.5 3.5 9a4.5 4.5 0 0 1 8.5-2 4.5 4.5 0 0 1 8.5 2c0 3.5-2.5 6.5-8.5 11Z",
  repost:
    "M7 7h9a2.5 2.5 0 0 1 2.5 2.5V15M17 17H8a2.5 2.5 0 0 1-2.5-2.5V9M16 12.5l2.5 2.5 2.5-2.5M3 11.5 5.5 9 8 11.5",
  reply: "M20 12a7.5 7 0 0 1-11 6.2L4 19.5l1.5-4A7 7 0 0 1 4.5 12a7.75 7 0 0 1 15.5 0Z",
  quote: "M6 17c2-1 3-2.5 3-4.5H5.5V7H10v5c0 3-1.5 5-4 6M15 17c2-1 3-2.5 3-4.5h-3.5V7H19v5c0 3-1.5 5-4 6",
  pin: "M9 4h6l-.75 6.5 3.25 3h-11l3.25-3L9 4ZM12 13.5V20.5",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  back: "M19 12H5M11 6l-6 6 6 6",
  close: "M6 6l12 12M18 6 6 18",
  trash: "M5 7h14M9 7V4.5h6V7M7 7l1 12.5h8L17 7",
  link: "M10 14a4 4 0 0 0 6 .5l2.5-2.5a4 4 0 0 0-5.5-5.5L12 7.5M14 10a4 4 0 0 0-6-.5L5.5 12a4 4 0 0 0 5.5 5.5l1-1",
  mute: "M5 9.5v5h3.5L13 18V6L8.5 9.5H5ZM16.5 9.5l4 5M20.5 9.5l-4 5",
  block: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM6 6l12 12",
  lock: "M6.5 11h11v8.5h-11V11ZM9 11V8a3 3 0 0 1 6 0v3",
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing that says nothing by itself: its button has the label. */
export function Icon({
  name,
  filled,
  ...rest
}: { name: IconName; filled?: boolean } & SVGProps<SVGSVGElement>) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      width="22"
      height="22"
      fill={filled ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={name === "more" ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The bird on its perch. */
export function Logo({ size = 34 }: { size?: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 64 64" width={size} height={size}>
      <path d="M6 50h52" stroke="var(--focus)" strokeWidth="4" strokeLinecap="round" />
      <path
        d="M13 46c1-16 10-27 23-28 5-8 16-6 17 3l7 3-8 2.5C51 39 42 46.5 30 46.5h-5L17 55Z"
        fill="var(--accent)"
      />
      <path d="M24 40c4-9 10-12 18-12-2 9-9 13-18 12Z" fill="var(--page)" opacity=".35" />
      <circle cx="45.5" cy="20.5" r="2.3" fill="var(--page)" />
      <path d="M30 46v4M37 45.5V50" stroke="var(--focus)" strokeWidth="2.5" strokeLinecap="round" />
    </svg>
  );
}
