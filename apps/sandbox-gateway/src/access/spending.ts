import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type AgentWork, CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { budgetReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { LiveGrant, SpendingAnswer } from './grants.queries.js';

/** Longest wait until llm-gateway acknowledges the spender. Milliseconds; worker retries four times a second. */
const APPLIED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

export interface SpendingOptions {
  /**
   * Whether the holder of a grant may spend; with `pays`, and that the conversation counts for them. `null`: the grant
   * holds no longer.
   */
  readonly spend: (grantId: string, pays: boolean) => Promise<SpendingAnswer | null>;
  /** Whether llm-gateway has acknowledged who pays for a conversation. */
  readonly isApplied: (conversation: string) => Promise<boolean>;
  /** Wants llm-gateway to know a pass of the holder of a grant. False: the grant holds no longer. */
  readonly requestPass: (grantId: string, hash: Buffer) => Promise<boolean>;
  /** Whether llm-gateway knows it. */
  readonly isPassApplied: (hash: Buffer) => Promise<boolean>;
}

/**
 * What is sent straight to agent-server counts for who sends it, by the name of their grant: nothing that the sandbox
 * says decides who pays. Costs nothing but one question to the database, and a wait where another user paid until now.
 */
export class Spending {
  constructor(private readonly options: SpendingOptions) {}

  /**
   * Resolves when the holder of the grant has a budget, and llm-gateway has them as spender: from now on for the task,
   * or `beside` it for this request, and none of its calls counts for another user.
   * @returns headers that agent-server is to get with the request.
   * @throws SlipwayError `budget.exhausted`; `auth.missing`; `service.unavailable` when the database does not answer,
   * or llm-gateway does not acknowledge.
   */
  async spend(grant: LiveGrant, work: AgentWork, signal?: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const answer = await asked(this.options.spend(grant.id, work === 'pays'));
    if (answer === null) throw ended();
    if (answer.stop !== null) throw new SlipwayError('budget.exhausted', budgetReason(answer.stop));
    if (work === 'beside') return this.pass(grant, signal);
    if (!answer.applied) await this.untilApplied(() => this.options.isApplied(grant.conversation), signal);
    return {};
  }

  private async pass(grant: LiveGrant, signal?: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const pass = randomBytes(32).toString('base64url');
    const hash = createHash('sha256').update(pass).digest();
    if (!(await asked(this.options.requestPass(grant.id, hash)))) throw ended();
    await this.untilApplied(() => this.options.isPassApplied(hash), signal);
    return { [CHARGE_PASS_HEADER]: pass };
  }

  private async untilApplied(isApplied: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + APPLIED_WITHIN_MS;
    while (performance.now() < deadline) {
      await wait(LOOK_EVERY_MS);
      if (signal?.aborted === true) throw signal.reason;
      if (await asked(isApplied())) return;
    }
    throw new SlipwayError(
      'service.unavailable',
      'The model gateway does not know yet that this counts for you. Send it again.',
      { retryAfterSeconds: 1 },
    );
  }
}

function ended(): SlipwayError {
  return new SlipwayError('auth.missing', 'This access has ended.');
}

function asked<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw new SlipwayError(
      'service.unavailable',
      'Whether your budget allows this cannot be checked now: the database does not answer.',
      {
        cause: error,
        retryAfterSeconds: 1,
      },
    );
  });
}
