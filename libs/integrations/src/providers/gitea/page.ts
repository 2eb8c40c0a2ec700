/** Gitea's own longest page, unless its administrator changed it. */
export const PAGE = 50;
