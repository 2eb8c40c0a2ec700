import { quotedMarkdown } from './quoted-markdown.js';
import type { Answer } from './thread-answers.js';

/** Marker in every comment of ours: a delivery about one is no request (`own-act`), and `find` searches for it. */
export const markOf = (marker: string): string => `slipway:${marker}`;

/** An answer in Markdown as GitHub, GitLab, Gitea and Linear read it. */
export function markdownOf(answer: Answer): string {
  return `<!-- ${markOf(answer.marker)} -->\n${unmarkedMarkdownOf(answer)}`;
}

/** The same for places where what we say is ours by its id. */
export function unmarkedMarkdownOf({ headline, said, links }: Omit<Answer, 'marker' | 'revision'>): string {
  const quoted = said === null ? '' : quotedMarkdown(said);
  const linked = links.map(({ label, url }) => `[${label}](${url})`).join(' · ');
  return [headline, quoted, linked].filter((part) => part !== '').join('\n\n');
}
