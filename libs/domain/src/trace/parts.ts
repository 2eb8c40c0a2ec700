import { MAX_LONGEST_SPANS, TRACE_PARTS, type TracePart } from '@slipway/contracts/conversations';
import type { Draft } from './draft.js';

/**
 * Which part a moment counts for where several are under way, first come first: what a user could change, then what is
 * most exact.
 */
const ORDER = ['approval', 'condense', 'model', 'tool', 'start'] as const satisfies readonly TracePart[];
const PART_OF: Readonly<Partial<Record<Draft['kind'], (typeof ORDER)[number]>>> = {
  approval: 'approval',
  condense: 'condense',
  chat: 'model',
  tool: 'tool',
  start: 'start',
};

/** How a turn's time divides. Each moment counts once, so the sum is the length of the turn. Milliseconds. */
export function partsOf(root: Draft, now: number): Record<TracePart, number> {
  const end = root.end ?? Math.max(root.start, now);
  const edges: Array<{ readonly at: number; readonly part: number; readonly step: 1 | -1 }> = [];
  const walk = (draft: Draft): void => {
    const part = PART_OF[draft.kind];
    if (part !== undefined) {
      const index = ORDER.indexOf(part);
      edges.push({ at: draft.start, part: index, step: 1 }, { at: draft.end ?? end, part: index, step: -1 });
    }
    draft.children.forEach(walk);
  };
  walk(root);
  edges.sort((a, b) => a.at - b.at);
  const parts = Object.fromEntries(TRACE_PARTS.map((part) => [part, 0])) as Record<TracePart, number>;
  const open = ORDER.map(() => 0);
  let at = root.start;
  for (const edge of [...edges, { at: end, part: 0, step: 1 as const }]) {
    parts[ORDER.find((_, index) => (open[index] as number) > 0) ?? 'other'] += edge.at - at;
    at = edge.at;
    open[edge.part] = (open[edge.part] as number) + edge.step;
  }
  return parts;
}

/** The longest spans with nothing below them, longest first; of equals the earlier. */
export function longestOf(all: readonly Draft[], now: number): Draft[] {
  const length = (draft: Draft): number => (draft.end ?? Math.max(draft.start, now)) - draft.start;
  return all
    .filter((draft) => draft.children.length === 0 && draft.kind !== 'turn' && length(draft) > 0)
    .sort((a, b) => length(b) - length(a) || a.start - b.start || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_LONGEST_SPANS);
}
