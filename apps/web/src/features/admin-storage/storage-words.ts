import type { Storage } from '@slipway/contracts/sandboxes';
import { bytesText } from '@slipway/domain';
import type { MessageKey, Translate } from '../../messages/translate.ts';

/** Of the limit where there is one, of what is used otherwise. Percent, for a bar. */
export interface Segment {
  readonly kind: keyof Storage['kinds'];
  readonly label: string;
  readonly bytes: number;
  readonly percent: number;
}

const LABELS: Readonly<Record<Segment['kind'], MessageKey>> = {
  log: 'adminStorage.eventsAndMessages',
  payloads: 'adminStorage.longOutputs',
  changes: 'adminStorage.workspaceChanges',
  rounding: 'adminStorage.reserved',
};
const ORDER: readonly Segment['kind'][] = ['log', 'payloads', 'changes', 'rounding'];

/** The parts of the bar; together at most 100, also where more than the limit is used. */
export function segmentsOf(t: Translate, { used, limit, kinds }: Pick<Storage, 'used' | 'limit' | 'kinds'>): Segment[] {
  const sum = ORDER.reduce((total, kind) => total + kinds[kind], 0);
  const whole = Math.max(limit ?? 0, used, sum, 1);
  return ORDER.map((kind) => ({
    kind,
    label: t(LABELS[kind]),
    bytes: kinds[kind],
    percent: (kinds[kind] / whole) * 100,
  }));
}

export function usedWords(t: Translate, { used, limit }: Pick<Storage, 'used' | 'limit'>): string {
  if (limit === null) return t('adminStorage.usedNoLimit', { used: bytesText(used) });
  return t('adminStorage.ofUsed', {
    used: bytesText(used),
    limit: bytesText(limit),
    percent: Math.floor((used / limit) * 100),
  });
}
