import { setTimeout as wait } from 'node:timers/promises';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { StreamingDelta } from '@slipway/contracts/events';
import { isAcceptedAndPending } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { EventLog } from '../log/event-log.js';
import { DeltaSender } from '../outbox/delta-sender.js';
import { IngestClient } from '../outbox/ingest-client.js';
import { Outbox } from '../outbox/outbox.js';

/** The app is asked this often before a start fails; the caller then tries again. */
const START_ATTEMPTS = 8;
/** Before the second attempt; longer before each further one. Milliseconds. */
const START_WAIT_MS = 200;

/** What ties a conversation to the app that owns its log, for one epoch. */
export class AppLink {
  private constructor(
    readonly outbox: Outbox,
    private readonly client: IngestClient,
    private readonly deltas: DeltaSender,
    /** Actions that the app vouches for, of those that the log says were accepted. */
    readonly approved: readonly string[],
  ) {}

  /**
   * Takes the conversation over: the app's log first, then what a previous process wrote here and did not send.
   * @throws SlipwayError `service.unavailable` or `ingest.stale-epoch`; nothing here has changed then.
   */
  static async open(
    slipway: NonNullable<StartConversationRequest['slipway']>,
    log: EventLog,
    options: {
      traceparent: () => string;
      logger: Logger;
      onFenced: () => void;
      onAcked: (acked: number) => void;
      signal: AbortSignal;
    },
  ): Promise<AppLink> {
    const client = new IngestClient(slipway.ingestUrl, slipway.ingestToken);
    const ackedBefore = await persistently(() => client.position(slipway.epoch, options.signal), options.signal);
    const history =
      slipway.head > 0 || ackedBefore > 0
        ? await persistently(() => client.history(options.signal), options.signal)
        : [];
    const firstIndex = await log.rebase(history);
    const approved = isAcceptedAndPending(log.events)
      ? await persistently(() => client.approvals(options.signal), options.signal)
      : [];
    const outbox = new Outbox({
      log,
      firstIndex,
      ackedBefore,
      epoch: slipway.epoch,
      client,
      traceparent: options.traceparent,
      random: Math.random,
      warn: (fields, message) => options.logger.warn(fields, message),
      onFenced: options.onFenced,
      onAcked: options.onAcked,
    });
    return new AppLink(outbox, client, new DeltaSender(client, slipway.epoch), approved);
  }

  renew(ingestToken: string): void {
    this.client.renew(ingestToken);
  }

  sendDelta(delta: StreamingDelta): void {
    this.deltas.add(delta);
  }

  async close(): Promise<void> {
    this.deltas.close();
    await this.outbox.close();
  }
}

async function persistently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const passing = error instanceof SlipwayError && error.code === 'service.unavailable';
      if (!passing || attempt >= START_ATTEMPTS) throw error;
      await wait(START_WAIT_MS * attempt, undefined, { signal });
    }
  }
}
