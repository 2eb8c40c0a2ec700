import { type EgressTraffic, type EgressTrafficRow, OTHER_HOSTS } from '@slipway/contracts/sandboxes';
import { bytes, number } from '../../browser/format.ts';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import { hostText } from '../egress/egress-words.ts';

/** Which rows are shown. */
export type Shown = 'all' | 'let-through' | 'refused';

const REFUSALS: Readonly<Record<string, MessageKey>> = {
  rule: 'traffic.refusedByRule',
  asked: 'traffic.aUserWasAsked',
  'asked-too-often': 'traffic.tooManyAsked',
  budget: 'traffic.budgetUsedUp',
  host: 'traffic.notListed',
  port: 'traffic.portNotOpen',
  address: 'traffic.privateAddress',
  undecided: 'traffic.undecided',
  unresolved: 'traffic.unresolved',
  unreachable: 'traffic.unreachable',
  broker: 'traffic.brokerAway',
  'in-clear': 'traffic.inClear',
  'not-brokered': 'traffic.notBrokered',
};

/** Host and port as plain text. */
export function placeText(t: Translate, row: Pick<EgressTrafficRow, 'host' | 'port'>): string {
  return row.host === OTHER_HOSTS ? t('traffic.otherHosts') : hostText(row);
}

/** What let it through, or why it was refused. */
export function reasonText(t: Translate, { admittedBy, refused }: EgressTrafficRow): string {
  if (admittedBy === null) {
    const words = REFUSALS[refused ?? ''];
    return words === undefined ? t('traffic.refusedFor', { reason: (refused ?? '').slice(0, 40) }) : t(words);
  }
  const { kind, name } = admittedBy;
  if (kind === 'list') return t('traffic.byTheList');
  if (kind === 'observed') return t('traffic.byObserving');
  if (kind === 'credential') return name === null ? t('traffic.byGoneCredential') : t('traffic.byCredential', { name });
  return name === null ? t('traffic.byGoneRule') : t('traffic.byRule', { name });
}

/** "Sent 48.0 KB to 3 hosts", and what came back. */
export function totalText(
  t: Translate,
  { hosts, bytesOut, bytesIn }: Pick<EgressTraffic, 'hosts' | 'bytesOut' | 'bytesIn'>,
): string {
  return t('traffic.total', { sent: bytes(bytesOut), hosts, count: number(hosts), received: bytes(bytesIn) });
}

/** How much of today's budget is sent. */
export function budgetText(t: Translate, { limitBytes, spentBytes }: NonNullable<EgressTraffic['budget']>): string {
  return spentBytes >= limitBytes
    ? t('traffic.budgetIsUsedUp', { limit: bytes(limitBytes) })
    : t('traffic.ofTheBudget', { spent: bytes(spentBytes), limit: bytes(limitBytes) });
}

/** Rows whose host or reason has the text in it. */
export function shownOf(
  t: Translate,
  rows: readonly EgressTrafficRow[],
  { text, shown }: { readonly text: string; readonly shown: Shown },
): readonly EgressTrafficRow[] {
  const wanted = text.trim().toLowerCase();
  return rows.filter(
    (row) =>
      (shown === 'all' || (shown === 'refused') === (row.admittedBy === null)) &&
      `${placeText(t, row)} ${reasonText(t, row)}`.toLowerCase().includes(wanted),
  );
}
