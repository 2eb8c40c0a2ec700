import { quotedMarkdown } from './quoted-markdown.js';
import type { Answer } from './thread-answers.js';

/** Stands in every comment of ours: a delivery about one is no request (`own-act`), and `find` looks for it. */
export const markOf = (marker: string): string => `slipway:${marker}`;

/** An answer in Markdown as GitHub, GitLab, Gitea and Linear read it. */
export function markdownOf({ headline, said, links, marker }: Answer): string {
  const quoted = said === null ? '' : quotedMarkdown(said);
  const linked = links.map(({ label, url }) => `[${label}](${url})`).join(' · ');
  return [`<!-- ${markOf(marker)} -->\n${headline}`, quoted, linked].filter((part) => part !== '').join('\n\n');
}
