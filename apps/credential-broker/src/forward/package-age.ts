import type { IncomingMessage } from 'node:http';
import { refused } from '../judge/refusal.js';

const DAY_MS = 86_400_000;
/** What registries say of packages, and no package itself. What a browser or an interpreter runs is none of these. */
const INDEX = /^\s*(application\/([^;]*\+)?(json|xml)|text\/(html|plain|xml))\s*(;|$)/i;

/**
 * Whether a file of a package host may come in: by the time at which the host says that it was last changed. What lists
 * packages passes, and so does an answer without a body, or one that leads elsewhere.
 * @param minAgeDays `null`: everything may.
 * @throws SlipwayError `egress.package-too-new`, also where the host gives no time.
 */
export function assertAged(
  { statusCode = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  minAgeDays: number | null,
  { host, isHead, now }: { readonly host: string; readonly isHead: boolean; readonly now: Date },
): void {
  const hasFile = statusCode >= 200 && statusCode < 300 && statusCode !== 204 && !isHead;
  if (minAgeDays === null || !hasFile || INDEX.test(headers['content-type'] ?? '')) return;
  const changed = Date.parse(headers['last-modified'] ?? '');
  if (now.getTime() - changed >= minAgeDays * DAY_MS) return;
  const why = Number.isNaN(changed)
    ? 'the host does not say when it was published'
    : `it was published on ${new Date(changed).toISOString().slice(0, 10)}`;
  throw refused(
    'egress.package-too-new',
    'package-age',
    `Files of ${host} are let through ${minAgeDays} ${minAgeDays === 1 ? 'day' : 'days'} after they were published; ${why}.`,
  );
}
