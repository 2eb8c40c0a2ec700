import { type ConversationRunSettings } from '@slipway/contracts/conversations';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { limitNeeded } from '@slipway/domain';
import type { ConversationView } from '../conversation/conversation-view.ts';

/** Why a conversation halted by itself: out of steps, out of its own money, or out of the organization's. */
export interface Limit {
  readonly code: 'agent.iteration-limit' | 'agent.budget-limit' | 'budget.exhausted';
  readonly detail: string;
}

/** A run that ended with one of these has halted, and nothing is broken. */
export const LIMIT_CODES: ReadonlySet<string> = new Set([
  'agent.iteration-limit',
  'agent.budget-limit',
  'budget.exhausted',
]);

/** The limit that it stands at; `null` as soon as it went on, was ended, or halted for another reason. */
export function limitOf({ status, timeline }: Pick<ConversationView, 'status' | 'timeline'>): Limit | null {
  if (status !== 'paused') return null;
  const last = timeline.rows.findLast((row) => row.kind !== 'start' && !(row.kind === 'note' && row.note === 'paused'));
  return last?.kind === 'error' && LIMIT_CODES.has(last.code)
    ? { code: last.code as Limit['code'], detail: last.detail }
    : null;
}

/** What happened, without what to do about it: that is offered. */
export function causeOf({ code, detail }: { readonly code: string; readonly detail: string }): string {
  const { nextStep } = code in ERRORS ? ERRORS[code as ErrorCode] : { nextStep: '' };
  return detail.replace(nextStep, '').trim();
}

/**
 * As much again beyond what is spent, or beyond the limit where less is, and no less than the next call needs, where
 * the reason names it. Decimal US dollars with cents.
 */
export function extendedBudget(limitUsd: string, spentUsd: number, reason = ''): string {
  const again = Math.max(Number(limitUsd), spentUsd) + Number(limitUsd);
  const cents = Math.ceil(Math.max(again, limitNeeded(reason) ?? 0) * 100 - 1e-6);
  return asMoney(cents / 100);
}

/** What that adds to what it may spend now. USD. */
export function extension(limitUsd: string, spentUsd: number, reason: string): number {
  const [extended, again] = [
    Number(extendedBudget(limitUsd, spentUsd, reason)),
    Number(extendedBudget(limitUsd, spentUsd)),
  ];
  return extended > again ? extended - Math.max(Number(limitUsd), spentUsd) : Number(limitUsd);
}

/** An amount as the server takes it: at most four places, no more zeros than cents have. */
export function asMoney(usd: number): string {
  return usd.toFixed(2).replace(/\.00$/, '');
}

/** The fields of a form; empty is no limit of its own. */
export type RunSettingsForm = Record<'maxIterations' | 'maxBudgetUsd', string>;

/** What a form says, as a change; the schema decides whether that may be sent. */
export function runSettingsOfForm({
  maxIterations,
  maxBudgetUsd,
}: RunSettingsForm): Record<keyof RunSettingsForm, unknown> {
  return {
    maxIterations: maxIterations.trim() === '' ? null : Number(maxIterations),
    maxBudgetUsd: maxBudgetUsd.trim() === '' ? null : maxBudgetUsd.trim().replace(/^\$\s*/, ''),
  };
}

export function formOfRunSettings({
  maxIterations,
  maxBudgetUsd,
}: Pick<ConversationRunSettings, keyof RunSettingsForm>): RunSettingsForm {
  return { maxIterations: maxIterations === null ? '' : String(maxIterations), maxBudgetUsd: maxBudgetUsd ?? '' };
}
