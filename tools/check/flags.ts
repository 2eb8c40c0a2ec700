import { readFileSync } from 'node:fs';
import path from 'node:path';

/** After its end a flag may stay so long. Milliseconds. */
const GRACE_MS = 31 * 86_400_000;
const FLAG = /^ {2}'?([a-z0-9-]+)'?: \{[^}]*?\bends: '(\d{4}-\d{2}-\d{2})'/gm;

/** Flags whose end is more than a month ago: each is to be decided and removed. */
export function overdueFlags(source: string, now: Date): string[] {
  return [...source.matchAll(FLAG)].flatMap(([, key = '', ends = '']) =>
    now.getTime() - Date.parse(ends) > GRACE_MS
      ? [`flag ${key} ended on ${ends}: decide it and remove it, or give it another end with a reason`]
      : [],
  );
}

export const overdueFlagsOf = (root: string, now: Date): string[] =>
  overdueFlags(readFileSync(path.join(root, 'libs/contracts/src/operate/flags.ts'), 'utf8'), now);
