import { type EgressBodies, type EgressTrafficRow, OTHER_TYPE } from '@slipway/contracts/sandboxes';
import { bytes, number } from '../../browser/format.ts';
import type { Translate } from '../../messages/translate.ts';

/** Longest name that is shown of a folder or a type, which a sandbox says. Characters. */
const MAX_NAME = 60;

const short = (name: string): string => (name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`);

/** "48.0 KB in 2 requests: application/json". */
export function requestsText(
  t: Translate,
  { bytes: sent, requests, types }: Pick<EgressBodies, 'bytes' | 'requests' | 'types'>,
): string {
  const names = types.map(({ type }) =>
    type === '' ? t('traffic.noType') : type === OTHER_TYPE ? t('traffic.otherTypes') : short(type),
  );
  return t('traffic.inRequests', { bytes: bytes(sent), requests, count: number(requests), types: names.join(', ') });
}

/** "from src/billing, src/web", those with the most of it. */
export function foldersText(t: Translate, { folders }: Pick<EgressBodies, 'folders'>): string {
  const names = folders.map(({ folder }) => (folder === '.' ? t('traffic.topFolder') : short(folder)));
  return names.length === 0 ? '' : t('traffic.fromFolders', { folders: names.join(', ') });
}

/** By the row that they stand at: the first of their host that was let through. */
export function bodiesOfRows(
  rows: readonly EgressTrafficRow[],
  bodies: readonly EgressBodies[],
): ReadonlyMap<EgressTrafficRow, EgressBodies> {
  return new Map(
    bodies.flatMap((each) => {
      const at = rows.find(
        ({ host, port, admittedBy }) => admittedBy !== null && host === each.host && port === each.port,
      );
      return at === undefined ? [] : [[at, each] as const];
    }),
  );
}
