import type { TraceSpan } from '@slipway/contracts/conversations';

/** One line of the tree: a span and where it stands. */
export interface TraceRow {
  readonly span: TraceSpan;
  /** From 1. */
  readonly level: number;
  /** Place among its siblings, from 1, and how many they are. */
  readonly position: number;
  readonly siblings: number;
  /** `null`: nothing below it. */
  readonly expanded: boolean | null;
  /** Its turn: what its bar is measured against. */
  readonly turn: TraceSpan;
  /** What shows it in the timeline; its parent's where it has nothing of its own. */
  readonly seq: number | null;
}

/** What is seen of a trace, in its own order, with `closed` spans folded. Parents stand before their children. */
export function rowsOf(spans: readonly TraceSpan[], closed: ReadonlySet<string>): TraceRow[] {
  const children = new Map<string | null, number>();
  for (const { parent } of spans) children.set(parent, (children.get(parent) ?? 0) + 1);
  const seen = new Map<string | null, number>();
  const shown = new Map<string, TraceRow>();
  const rows: TraceRow[] = [];
  for (const span of spans) {
    const position = (seen.get(span.parent) ?? 0) + 1;
    seen.set(span.parent, position);
    const above = span.parent === null ? null : shown.get(span.parent);
    if (above === undefined || above?.expanded === false) continue;
    const row: TraceRow = {
      span,
      level: (above?.level ?? 0) + 1,
      position,
      siblings: children.get(span.parent) ?? 1,
      expanded: children.has(span.id) ? !closed.has(span.id) : null,
      turn: above?.turn ?? span,
      seq: span.seq ?? above?.seq ?? null,
    };
    shown.set(span.id, row);
    rows.push(row);
  }
  return rows;
}

/** Index of a row's parent; its own at the top. */
export function parentIndex(rows: readonly TraceRow[], index: number): number {
  const parent = rows[index]?.span.parent ?? null;
  if (parent === null) return index;
  const found = rows.findLastIndex(({ span }, at) => at < index && span.id === parent);
  return found === -1 ? index : found;
}

export type TraceStep =
  | { readonly to: number }
  | { readonly fold: string }
  | { readonly unfold: string }
  | { readonly show: number };

/** What a key does on a row, as in a tree grid; `null`: nothing. @param page rows of one screen. */
export function stepOf(rows: readonly TraceRow[], index: number, key: string, page: number): TraceStep | null {
  const row = rows[index];
  if (row === undefined) return rows.length === 0 ? null : { to: 0 };
  const to = (wanted: number): TraceStep => ({ to: Math.max(0, Math.min(rows.length - 1, wanted)) });
  switch (key) {
    case 'ArrowDown':
      return to(index + 1);
    case 'ArrowUp':
      return to(index - 1);
    case 'PageDown':
      return to(index + page);
    case 'PageUp':
      return to(index - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(rows.length - 1);
    case 'ArrowRight':
      return row.expanded === false ? { unfold: row.span.id } : row.expanded === true ? to(index + 1) : null;
    case 'ArrowLeft':
      return row.expanded === true ? { fold: row.span.id } : to(parentIndex(rows, index));
    case 'Enter':
      return row.seq === null ? null : { show: row.seq };
    case ' ':
      return row.expanded === null ? null : row.expanded ? { fold: row.span.id } : { unfold: row.span.id };
    default:
      return null;
  }
}

/**
 * Where a bar begins in its turn and how long it is, as shares of the turn. @param until where what runs has come to,
 * in the trace's own milliseconds.
 */
export function barOf({ span, turn }: TraceRow, until: number): { readonly left: number; readonly width: number } {
  const end = (each: TraceSpan): number => (each.ms === null ? Math.max(each.at, until) : each.at + each.ms);
  const length = Math.max(1, end(turn) - turn.at);
  const left = Math.min(1, Math.max(0, (span.at - turn.at) / length));
  return { left, width: Math.min(1 - left, Math.max(0, (end(span) - span.at) / length)) };
}
