import type { Storage } from '@slipway/contracts';
import { bytesText } from '@slipway/domain';

/** Of the limit where there is one, of what is used otherwise. Percent, for a bar. */
export interface Segment {
  readonly kind: keyof Storage['kinds'];
  readonly label: string;
  readonly bytes: number;
  readonly percent: number;
}

const LABELS: Readonly<Record<Segment['kind'], string>> = {
  log: 'Events and messages',
  payloads: 'Long outputs',
  changes: 'Changes of workspaces',
  rounding: 'Taken ahead',
};
const ORDER: readonly Segment['kind'][] = ['log', 'payloads', 'changes', 'rounding'];

/** The parts of the bar; together at most 100, also where more than the limit is used. */
export function segmentsOf({ used, limit, kinds }: Pick<Storage, 'used' | 'limit' | 'kinds'>): Segment[] {
  const sum = ORDER.reduce((total, kind) => total + kinds[kind], 0);
  const whole = Math.max(limit ?? 0, used, sum, 1);
  return ORDER.map((kind) => ({ kind, label: LABELS[kind], bytes: kinds[kind], percent: (kinds[kind] / whole) * 100 }));
}

export function usedWords({ used, limit }: Pick<Storage, 'used' | 'limit'>): string {
  if (limit === null) return `${bytesText(used)} used, no limit`;
  return `${bytesText(used)} of ${bytesText(limit)} used (${Math.floor((used / limit) * 100)} %)`;
}
