import { setTimeout as wait } from 'node:timers/promises';
import { budgetReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { LiveGrant, SpendingAnswer } from './grants.queries.js';

/** Longest wait until llm-gateway knows who pays. Milliseconds; worker tells it four times a second. */
const TOLD_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

export interface SpendingOptions {
  /** Whether the holder of a grant may spend; with `pays`, and that the conversation counts for them. `null`: the grant holds no longer. */
  readonly spend: (grantId: string, pays: boolean) => Promise<SpendingAnswer | null>;
  /** Whether llm-gateway has acknowledged who pays for a conversation. */
  readonly isTold: (conversation: string) => Promise<boolean>;
}

/**
 * What is sent straight to agent-server counts for who sends it, by the name of their grant: nothing that the sandbox says decides who pays.
 * Costs nothing but one question to the database, and a wait where another user paid until now.
 */
export class Spending {
  constructor(private readonly options: SpendingOptions) {}

  /**
   * Resolves when models may work for the holder of the grant, and with `pays` when llm-gateway knows that they pay: no call that follows counts for somebody else.
   * @throws SlipwayError `budget.exhausted`; `auth.missing`; `service.unavailable` when the database does not answer, or llm-gateway cannot be told.
   */
  async spend(grant: LiveGrant, pays: boolean, signal?: AbortSignal): Promise<void> {
    const answer = await asked(this.options.spend(grant.id, pays));
    if (answer === null) throw new SlipwayError('auth.missing', 'This access has ended.');
    if (answer.stop !== null) throw new SlipwayError('budget.exhausted', budgetReason(answer.stop));
    if (answer.told) return;
    const deadline = performance.now() + TOLD_WITHIN_MS;
    while (performance.now() < deadline) {
      await wait(LOOK_EVERY_MS);
      if (signal?.aborted === true) throw signal.reason;
      if (await asked(this.options.isTold(grant.conversation))) return;
    }
    throw new SlipwayError('service.unavailable', 'The model gateway does not know yet that this counts for you. Send it again.', { retryAfterSeconds: 1 });
  }
}

function asked<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw new SlipwayError('service.unavailable', 'Whether your budget allows this cannot be checked now: the database does not answer.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  });
}
