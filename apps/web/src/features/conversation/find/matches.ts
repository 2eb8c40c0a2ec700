import type { EventHit } from '@slipway/contracts/conversations';
import type { Row, Step } from '../timeline-row.ts';

/** Where the text stands: a row, and the call in it where the row holds calls. */
export interface Match {
  readonly seq: number;
  readonly stepId: string | null;
}

/** Text of rows and calls in small letters, made when it is first searched. */
const texts = new WeakMap<Row | Step, string>();

/** Places of the text in loaded rows, whichever case, in the order of the log. Folded and closed rows count. */
export function matchesIn(rows: readonly Row[], text: string): readonly Match[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  return rows.flatMap((row): Match[] => {
    if (row.kind !== 'steps')
      return textOf(row, () => saidBy(row)).includes(wanted) ? [{ seq: row.seq, stepId: null }] : [];
    return row.steps.flatMap((step) =>
      textOf(step, () => saidIn(step)).includes(wanted) ? [{ seq: row.seq, stepId: step.id }] : [],
    );
  });
}

/**
 * What the server found above the loaded rows and what was found in them, in the order of the log. A call and its
 * answer are one place.
 * @param found newest first
 */
export function joinMatches(found: readonly EventHit[], loaded: readonly Match[], firstSeq: number): readonly Match[] {
  const calls = new Set(loaded.map(({ stepId }) => stepId));
  const above: Match[] = [];
  for (const { seq, actionId } of found.toReversed()) {
    if (seq >= firstSeq || (actionId !== null && calls.has(actionId))) continue;
    if (actionId !== null) calls.add(actionId);
    above.push({ seq, stepId: actionId });
  }
  return [...above, ...loaded];
}

/** Place of a match among others that may have changed: itself, else the nearest before it. -1: none. */
export function placeOf(matches: readonly Match[], { seq, stepId }: Match): number {
  const same = stepId === null ? -1 : matches.findIndex((match) => match.stepId === stepId);
  if (same !== -1) return same;
  return Math.max(
    matches.length === 0 ? -1 : 0,
    matches.findLastIndex((match) => match.seq <= seq),
  );
}

function textOf(of: Row | Step, make: () => string): string {
  const known = texts.get(of);
  if (known !== undefined) return known;
  const made = make().toLowerCase();
  texts.set(of, made);
  return made;
}

function saidBy(row: Exclude<Row, { kind: 'steps' }>): string {
  switch (row.kind) {
    case 'message':
    case 'thought':
    case 'summary':
      return row.text;
    case 'tasks':
      return stringsIn(row.tasks).join('\n');
    case 'hook':
      return `${row.command}\n${row.text}`;
    case 'retry':
    case 'error':
      return row.detail;
    case 'start':
      return row.steps.map(({ detail }) => detail ?? '').join('\n');
    case 'servers':
      return row.servers.map(({ name }) => name).join('\n');
    case 'egress':
      return `${row.request.host}:${row.request.port}\n${row.request.reason}`;
    case 'gap':
    case 'note':
      return '';
  }
}

function saidIn({ action, observation, error, summary }: Step): string {
  return [...stringsIn(action), ...stringsIn(observation), error ?? '', summary ?? ''].join('\n');
}

/** Names for programs and pictures: the server does not search them either. */
const UNSEEN = new Set(['kind', 'type', 'role', 'image_urls', 'tool_call_id', 'id']);

function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 12) return [];
  return Object.entries(value).flatMap(([name, part]) => (UNSEEN.has(name) ? [] : stringsIn(part, depth + 1)));
}
