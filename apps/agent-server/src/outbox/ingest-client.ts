import {
  type ConversationEvent,
  EventPage,
  IngestAck,
  IngestApprovals,
  type StreamingDelta,
} from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { callJson, problemCode, refusal } from '../http/outgoing.js';

/** Longest wait for an acknowledgement. Milliseconds; the lease is as long. */
const SEND_TIMEOUT_MS = 10_000;
const DELTA_TIMEOUT_MS = 2_000;
const HISTORY_TIMEOUT_MS = 30_000;
const HISTORY_PAGE = 1_000;

export type SendResult =
  | { readonly result: 'acked'; readonly acked: number }
  /** Another sandbox owns the conversation, or it is gone: write no more. */
  | { readonly result: 'fenced'; readonly detail: string }
  | { readonly result: 'gap'; readonly acked: number }
  | { readonly result: 'too-large' }
  /** This batch as it is will never be taken. */
  | { readonly result: 'invalid'; readonly detail: string }
  | { readonly result: 'retry'; readonly detail: string; readonly afterMs: number };

type Answer = Awaited<ReturnType<typeof callJson>>;

/** The app's side of a conversation's log, as a sandbox reaches it. */
export class IngestClient {
  constructor(
    private readonly ingestUrl: string,
    private token: string,
  ) {}

  /** Another token for the same epoch. */
  renew(token: string): void {
    this.token = token;
  }

  /**
   * Last `producerSeq` of this epoch that the app has; also renews the lease. @throws SlipwayError
   * `ingest.stale-epoch`, `service.unavailable`.
   */
  async position(epoch: number, signal: AbortSignal): Promise<number> {
    const result = await this.send(Buffer.from(JSON.stringify({ epoch, events: [] })), signal);
    if (result.result === 'acked') return result.acked;
    if (result.result === 'fenced')
      throw new SlipwayError('ingest.stale-epoch', 'Another sandbox owns this conversation now.');
    throw new SlipwayError('service.unavailable', 'The app does not take events of this conversation at the moment.', {
      internal: JSON.stringify(result),
    });
  }

  /** @param body an `IngestBatch`. Rejects with the signal's reason only; every other failure is a result. */
  async send(body: Buffer, signal: AbortSignal): Promise<SendResult> {
    let answer: Answer;
    try {
      answer = await callJson({
        method: 'POST',
        url: `${this.ingestUrl}/events`,
        headers: this.headers(),
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      return { result: 'retry', detail: String((error as Error).message), afterMs: 0 };
    }
    if (answer.status === 200) {
      const ack = IngestAck.safeParse(answer.body);
      return ack.success
        ? { result: 'acked', acked: ack.data.ackedProducerSeq }
        : { result: 'retry', detail: 'the acknowledgement could not be read', afterMs: 0 };
    }
    const code = problemCode(answer.body);
    const detail = `status ${answer.status} ${code ?? ''}`.trim();
    if (code === 'ingest.gap') {
      const acked = (answer.body as { ackedProducerSeq?: unknown }).ackedProducerSeq;
      return typeof acked === 'number' ? { result: 'gap', acked } : { result: 'retry', detail, afterMs: 0 };
    }
    if (code === 'ingest.stale-epoch' || answer.status === 404) return { result: 'fenced', detail };
    if (answer.status === 413) return { result: 'too-large' };
    if (answer.status === 400 || answer.status === 422)
      return {
        result: 'invalid',
        detail: `${detail}: ${String((answer.body as { detail?: unknown } | null)?.detail ?? '')}`,
      };
    return { result: 'retry', detail, afterMs: (Number(answer.headers['retry-after']) || 0) * 1000 };
  }

  /** Best effort: false when they did not arrive. */
  async sendDeltas(epoch: number, deltas: readonly StreamingDelta[], signal: AbortSignal): Promise<boolean> {
    try {
      const body = JSON.stringify({ epoch, deltas });
      const answer = await callJson({
        method: 'POST',
        url: `${this.ingestUrl}/deltas`,
        headers: this.headers(),
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(DELTA_TIMEOUT_MS)]),
      });
      return answer.status < 300;
    } catch {
      return false;
    }
  }

  /**
   * Actions that users approved in the app under four eyes. None from an app that does not know the question yet.
   * @throws SlipwayError `service.unavailable`.
   */
  async approvals(signal: AbortSignal): Promise<string[]> {
    const answer = await this.read('approvals', signal);
    if (answer.status === 404) return [];
    const approvals = IngestApprovals.safeParse(answer.body);
    if (answer.status !== 200 || !approvals.success) throw refusal('The app', answer.status, answer.body);
    return approvals.data.action_ids;
  }

  /** The whole log so far, oldest first. @throws SlipwayError `service.unavailable` or `ingest.stale-epoch`. */
  async history(signal: AbortSignal): Promise<ConversationEvent[]> {
    const events: ConversationEvent[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const answer: Answer = await this.read(`events?after=${after}&limit=${HISTORY_PAGE}`, signal);
      if (problemCode(answer.body) === 'ingest.stale-epoch')
        throw new SlipwayError('ingest.stale-epoch', 'Another sandbox owns this conversation now.');
      if (answer.status !== 200) throw refusal('The app', answer.status, answer.body);
      const page = EventPage.safeParse(answer.body);
      if (!page.success)
        throw new SlipwayError('service.unavailable', 'The log of the conversation could not be read back.', {
          internal: page.error.message,
        });
      for (const line of page.data.data) events.push(line.event);
      after = page.data.page.nextAfter;
    }
    return events;
  }

  private async read(what: string, signal: AbortSignal): Promise<Answer> {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(HISTORY_TIMEOUT_MS)]);
      return await callJson({
        method: 'GET',
        url: `${this.ingestUrl}/${what}`,
        headers: this.headers(),
        signal: within,
      });
    } catch (error) {
      throw new SlipwayError('service.unavailable', 'The log of the conversation cannot be read back at the moment.', {
        cause: error,
      });
    }
  }

  private headers(): Record<string, string> {
    return { 'content-type': 'application/json', authorization: `Bearer ${this.token}` };
  }
}
