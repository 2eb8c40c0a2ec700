import { type EgressAskedBy, type EgressRequest, MAX_ASKER_LINE } from '@slipway/contracts/sandboxes';
import type { Row } from '../conversation/timeline-row.ts';

/** Most lines of answered requests that a card keeps. */
const MAX_SETTLED = 4;

/** What the user of this page has seen of requests, by id. */
export interface CardMemory {
  /** Requests that waited while the page was open. */
  readonly seen: ReadonlySet<string>;
  readonly dismissed: ReadonlySet<string>;
}
export const NO_MEMORY: CardMemory = { seen: new Set(), dismissed: new Set() };

/** The memory with those that wait now; the same one when it has them all. */
export function remember(memory: CardMemory, requests: readonly EgressRequest[]): CardMemory {
  const fresh = requests.filter(({ id, state }) => state === 'waiting' && !memory.seen.has(id));
  return fresh.length === 0 ? memory : { ...memory, seen: new Set([...memory.seen, ...fresh.map(({ id }) => id)]) };
}

/** The memory in which all that is settled now is put away. */
export function dismiss(memory: CardMemory, requests: readonly EgressRequest[]): CardMemory {
  const settled = cardOf(requests, memory).settled.map(({ id }) => id);
  return { ...memory, dismissed: new Set([...memory.dismissed, ...settled]) };
}

/**
 * What the card shows: requests that wait, oldest first, so that a new one never moves the button that somebody is
 * about to press, and one line for each that was settled before the eyes of the user, in the order of the answers.
 */
export function cardOf(
  requests: readonly EgressRequest[],
  { seen, dismissed }: CardMemory,
): { readonly waiting: readonly EgressRequest[]; readonly settled: readonly EgressRequest[] } {
  const waiting = requests.filter(({ state }) => state === 'waiting').toSorted(by(({ createdAt }) => createdAt));
  const settled = requests
    .filter(({ id, state }) => state !== 'waiting' && seen.has(id) && !dismissed.has(id))
    .toSorted(by(({ decidedAt, createdAt }) => decidedAt ?? createdAt));
  return { waiting, settled: settled.slice(-MAX_SETTLED) };
}

/** Requests with the same time stay in the order of their ids, whichever way the server listed them. */
const by =
  (time: (request: EgressRequest) => string) =>
  (a: EgressRequest, b: EgressRequest): number =>
    Date.parse(time(a)) - Date.parse(time(b)) || (a.id < b.id ? -1 : 1);

/** The command that asked, as the sandbox says; `null` where no loaded command has this id. */
export function commandOf(rows: readonly Row[], actionId: string | null): EgressAskedBy | null {
  if (actionId === null) return null;
  for (const row of rows.toReversed()) {
    const step = row.kind === 'steps' ? row.steps.find(({ id }) => id === actionId) : undefined;
    const command = step?.action?.['command'];
    if (step?.action?.kind === 'TerminalAction' && typeof command === 'string') {
      const [line = ''] = command.trim().split(/[\r\n\u2028\u2029]/);
      return { kind: 'action', line: line.slice(0, MAX_ASKER_LINE), seq: row.seq };
    }
  }
  return null;
}

/** What an answer that the server refused means for the card. */
export function refusalOf(code: string): 'answered' | 'four-eyes' | 'other' {
  if (code === 'egress.already-answered') return 'answered';
  return code === 'conversation.four-eyes' ? 'four-eyes' : 'other';
}
