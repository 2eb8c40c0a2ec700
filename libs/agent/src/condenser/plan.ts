import type { PromptUnit } from '../prompt-unit.js';
import { tokensOfMessages } from './tokens.js';

/** What a condensation takes away, in the order in which the model read it. */
export interface CondensationPlan {
  /** Whole turns and messages: an action never goes without its answer. */
  readonly units: readonly PromptUnit[];
  /** The summary that stands for what was forgotten before. */
  readonly previous: string | null;
  /** How many events that the model sees come before the new summary. */
  readonly offset: number;
  /** Tokens of `units`, about. */
  readonly tokens: number;
}

/**
 * Forgets from the first turn on: what the user said before it (the task) stays, and so do the last turns, as many as
 * `tailTokens` hold. What has yet to be answered stays in any case. At least one turn is forgotten; `null` when there
 * is none to forget.
 */
export function planCondensation(units: readonly PromptUnit[], tailTokens: number): CondensationPlan | null {
  const first = units.findIndex(({ kind }) => kind === 'turn' || kind === 'summary');
  const firstTurn = units.findIndex(({ kind, open }) => kind === 'turn' && !open);
  if (firstTurn === -1) return null;
  let end = units.findLastIndex(({ kind, open }) => kind === 'turn' && !open) + 1;
  const openTurn = units.findIndex(({ open }) => open);
  if (openTurn !== -1) end = Math.min(end, openTurn);
  let kept = 0;
  while (end > firstTurn + 1) {
    kept += tokensOf(units[end - 1]);
    if (kept > tailTokens) break;
    end -= 1;
  }
  const forgotten = units.slice(first, end).filter(({ kind }) => kind !== 'summary');
  if (forgotten.length === 0) return null;
  return {
    units: forgotten,
    previous: units.find(({ kind }) => kind === 'summary')?.summary ?? null,
    offset: Math.min(...forgotten.map(({ position }) => position)),
    tokens: forgotten.reduce((sum, unit) => sum + tokensOf(unit), 0),
  };
}

function tokensOf(unit: PromptUnit | undefined): number {
  return unit === undefined ? 0 : tokensOfMessages(unit.messages);
}
