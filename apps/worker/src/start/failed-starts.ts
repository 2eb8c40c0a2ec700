import { ERRORS } from '@slipway/contracts/errors';
import type { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import { HostUnreachable } from './git-failure.js';
import type { Room } from './room.js';
import { sandboxWait, wantsRoom } from './sandbox-wait.js';
import type { StartAttempt } from './start-attempt.js';

/** Failures of one attempt that are tried again; with the pauses below this spans about half a minute. */
const MAX_FAILURES = 8;
/** The same where the git host takes no connections: less than 8 s of pauses. */
const MAX_REFUSALS = 4;
const RETRY_BASE_MS = 500;
const RETRY_CAP_MS = 5_000;
/**
 * How often a full pool is asked again. Milliseconds; well below the 10 s for which runtime-api keeps a place in its
 * queue.
 */
const CAPACITY_RETRY_MS = 1_000;
/** Longest that giving a failed start's sandbox back may take. Milliseconds; the sweep does what is left. */
const RELEASE_MS = 10_000;

export type FailureOutcome = { readonly kind: 'failed' } | { readonly kind: 'later'; readonly delayMs: number };

/** Decides what follows a failed start: a wait for room, another try, or the end with its sandbox given back. */
export class FailedStarts {
  constructor(
    private readonly room: Room,
    private readonly runtime: RuntimeApiClient,
    private readonly logger: Logger,
  ) {}

  async handle(held: HeldConversation, attempt: StartAttempt, failure: SlipwayError): Promise<FailureOutcome> {
    const makesRoom = wantsRoom(failure, attempt.elapsedMs()) && (await this.room.make(held.orgId));
    const waits = sandboxWait(failure, attempt.elapsedMs(), makesRoom);
    if (waits !== null) {
      await attempt.report(waits.sentence, waits.queue);
      return { kind: 'later', delayMs: CAPACITY_RETRY_MS };
    }
    const most = failure instanceof HostUnreachable ? MAX_REFUSALS : MAX_FAILURES;
    const failures = (held.row.checkpoint.failures ?? 0) + 1;
    if (ERRORS[failure.code].retry === 'never' || failures > most) {
      await attempt.failed(failure);
      await this.release(held);
      return { kind: 'failed' };
    }
    const suspect = failure.code.startsWith('sandbox.');
    await attempt.retrying(`${failure.detail} Trying again (${failures} of ${most}).`, {
      ...held.row.checkpoint,
      failures,
      ...(suspect ? { suspect: true, done: ['WORKING'] } : {}),
    });
    return { kind: 'later', delayMs: Math.min(RETRY_BASE_MS * 2 ** (failures - 1), RETRY_CAP_MS) };
  }

  /** A failed start keeps no sandbox: one that never held work is given up, another is paused with its workspace. */
  private async release(held: HeldConversation): Promise<void> {
    const { runtimeId, baseCommit } = held.row;
    if (runtimeId === null) return;
    const signal = AbortSignal.any([held.signal, AbortSignal.timeout(RELEASE_MS)]);
    try {
      await (baseCommit === null
        ? this.runtime.stop(held.orgId, runtimeId, signal)
        : this.runtime.pause(held.orgId, runtimeId, signal));
      await held.write(() => ({ events: [], columns: { runtimeId: null, sandboxUrl: null, sandboxKey: null } }));
    } catch (error) {
      this.logger.warn({ err: error }, 'sandbox of a failed start not released, sweep will retry');
    }
  }
}
