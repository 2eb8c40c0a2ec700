import type { ConversationEvent, StartConversationRequest, StreamingDelta } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { DeltaSender } from '../outbox/delta-sender.js';
import { IngestClient } from '../outbox/ingest-client.js';
import { Outbox } from '../outbox/outbox.js';
import type { EventLog } from './event-log.js';

/** The app's log is read again this often before a start fails; its sandbox is then given up. */
const HISTORY_ATTEMPTS = 3;

/** What ties a conversation to the app that owns its log, for one epoch. */
export class AppLink {
  private constructor(
    readonly epoch: number,
    readonly outbox: Outbox,
    private readonly deltas: DeltaSender,
  ) {}

  /**
   * Takes the conversation over: the app's log first, then what an earlier life wrote here and did not send.
   * @throws SlipwayError `service.unavailable` or `ingest.stale-epoch`; nothing here has changed then.
   */
  static async open(
    slipway: NonNullable<StartConversationRequest['slipway']>,
    log: EventLog,
    options: { traceparent: () => string; logger: Logger; onFenced: () => void; onAcked: (acked: number) => void; signal: AbortSignal },
  ): Promise<AppLink> {
    const client = new IngestClient(slipway.ingestUrl, slipway.ingestToken);
    const history = slipway.head > 0 ? await readHistory(client, options.signal) : [];
    const firstIndex = await log.rebase(history);
    const outbox = new Outbox({
      log,
      firstIndex,
      epoch: slipway.epoch,
      client,
      traceparent: options.traceparent,
      random: Math.random,
      warn: (fields, message) => options.logger.warn(fields, message),
      onFenced: options.onFenced,
      onAcked: options.onAcked,
    });
    return new AppLink(slipway.epoch, outbox, new DeltaSender(client, slipway.epoch));
  }

  sendDelta(delta: StreamingDelta): void {
    this.deltas.add(delta);
  }

  async close(): Promise<void> {
    this.deltas.close();
    await this.outbox.close();
  }
}

async function readHistory(client: IngestClient, signal: AbortSignal): Promise<ConversationEvent[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.history(signal);
    } catch (error) {
      const passing = error instanceof SlipwayError && error.code === 'service.unavailable';
      if (!passing || attempt >= HISTORY_ATTEMPTS) throw error;
    }
  }
}
