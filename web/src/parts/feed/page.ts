export const PAGE = 20; // posts
