import type { Catalogue } from './translate.ts';

/** What every page has: the frame, sign-in, forms, lists. A page names the rest with `WithMessages`. */
export const BASE = [
  'app',
  'commands',
  'common',
  'form',
  'frame',
  'list',
  'problems',
  'session',
  'undo',
] as const satisfies ReadonlyArray<keyof Catalogue>;
