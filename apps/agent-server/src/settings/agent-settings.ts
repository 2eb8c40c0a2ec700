import type { AgentType, RefusedSetting } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { Conversation } from '../conversations/conversation.js';

/** What is to change; `undefined` stays. */
export interface SettingsChange {
  readonly maxIterations?: number | null | undefined;
  /** US dollars. */
  readonly maxBudgetUsd?: number | null | undefined;
  readonly agentType?: AgentType | undefined;
}

interface Refusal {
  readonly setting: RefusedSetting['setting'];
  readonly error: SlipwayError;
}

/**
 * Changes each setting by itself, so that one refusal keeps none of the others. `check` changes nothing. @throws what
 * is no refusal.
 */
export async function tryChange(
  conversation: Conversation,
  change: SettingsChange,
  mode: 'apply' | 'check',
): Promise<Refusal[]> {
  const { maxIterations, maxBudgetUsd, agentType } = change;
  const setters: Record<RefusedSetting['setting'], () => unknown> = {
    maxIterations: () => maxIterations !== undefined && conversation.setLimits({ maxIterations }, mode),
    maxBudgetUsd: () => maxBudgetUsd !== undefined && conversation.setLimits({ maxBudgetUsd }, mode),
    agentType: () => agentType !== undefined && conversation.setAgentType(agentType, mode),
  };
  const refusals: Refusal[] = [];
  for (const [setting, set] of Object.entries(setters) as Array<[RefusedSetting['setting'], () => unknown]>) {
    try {
      await set();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.push({ setting, error });
    }
  }
  return refusals;
}

export function refusedSettings(refusals: readonly Refusal[]): RefusedSetting[] {
  return refusals.map(({ setting, error }) => ({
    setting,
    code: error.code as RefusedSetting['code'],
    detail: error.more.fields?.[0]?.message ?? error.detail,
  }));
}

function isRefusal(error: unknown): error is SlipwayError {
  return error instanceof SlipwayError && (error.code === 'conversation.busy' || error.code === 'request.invalid');
}
