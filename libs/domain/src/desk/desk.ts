import type { DeskDecision, DeskGroup } from '@slipway/contracts/conversations';
import { type DeskFacts, type DeskMarks, decisionsOf } from './decisions.js';

/** Of one conversation, for one user. */
export interface Decided<Facts extends DeskFacts = DeskFacts> {
  readonly facts: Facts;
  readonly group: DeskGroup;
  readonly decisions: DeskDecision[];
}

/**
 * Where a conversation stands on a user's Desk. Exactly one of the four, whatever it holds:
 * - `needs-you`: a decision waits that this user has not put off;
 * - `working`: it starts or works;
 * - `ready`: it has ended and said something that this user has not looked at;
 * - `resting`: everything else, and what the user has muted.
 */
export function groupOf(
  { status, saidSeq }: Pick<DeskFacts, 'status' | 'saidSeq'>,
  decisions: readonly DeskDecision[],
  marks: DeskMarks,
  now: number,
): DeskGroup {
  if (marks.muted) return 'resting';
  if (decisions.length > 0 && !isPutOff(decisions, marks, now)) return 'needs-you';
  if (status === 'starting' || status === 'working') return 'working';
  return decisions.length === 0 && status === 'finished' && saidSeq > marks.seq ? 'ready' : 'resting';
}

/** Every decision that waits by now is done for now or snoozed: another one comes back at once. */
function isPutOff(decisions: readonly DeskDecision[], { doneKey, snoozedUntil }: DeskMarks, now: number): boolean {
  if (snoozedUntil !== null && Date.parse(snoozedUntil) > now) return true;
  return doneKey !== null && keyOf(decisions) === doneKey;
}

/** Names everything that waits in a conversation: what `doneKey` is compared with. At most 300 characters. */
export function keyOf(decisions: readonly DeskDecision[]): string {
  return decisions
    .map(({ key }) => key)
    .sort()
    .join(' ')
    .slice(0, 300);
}

/** @param now milliseconds since 1970. */
export function decide<Facts extends DeskFacts>(facts: Facts, marks: DeskMarks, now: number): Decided<Facts> {
  const decisions = decisionsOf(facts, now);
  return { facts, decisions, group: groupOf(facts, decisions, marks, now) };
}

/** The dearest first; of two that cost the same the one that has waited longer. A total order. */
export function byCost(a: Decided, b: Decided): number {
  const [first, second] = [a.decisions[0]?.score ?? 0, b.decisions[0]?.score ?? 0];
  return second - first || Date.parse(a.facts.since) - Date.parse(b.facts.since) || (a.facts.id < b.facts.id ? -1 : 1);
}

/** The newest first: what is finished, and what works. A total order. */
export function byNews(a: Decided, b: Decided): number {
  return Date.parse(b.facts.since) - Date.parse(a.facts.since) || (a.facts.id < b.facts.id ? -1 : 1);
}

/** Needs you, Ready, Working, each in its order; resting ones are left out. */
export function deskOf<Row extends Decided>(rows: readonly Row[]): Row[] {
  const of = (group: DeskGroup): Row[] => rows.filter((row) => row.group === group);
  return [...of('needs-you').sort(byCost), ...of('ready').sort(byNews), ...of('working').sort(byNews)];
}

/** Estimate for all decisions of these rows together. Seconds. */
export function secondsOf(rows: readonly Decided[]): number {
  return rows
    .filter(({ group }) => group === 'needs-you')
    .flatMap(({ decisions }) => decisions)
    .reduce((sum, { seconds }) => sum + seconds, 0);
}
