import type { Readable } from 'node:stream';
import {
  CaptureTrailer,
  CHECKPOINT_CONTENT_TYPE,
  RestoredCheckpoint,
  type RestoreQuery,
} from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import type { Dispatcher } from 'undici';
import { callOut, type OutgoingRequest, readAnswer } from '../http/outgoing.js';
import { refusedByTool } from './tool-process-failure.js';

export interface WantedCapture {
  /** Of the conversation whose checkpoints follow each other. */
  readonly chain: string;
  /** State hash of the checkpoint before; `null`: everything. */
  readonly after: string | null;
  /** Bytes of new objects; what is beyond is deferred. */
  readonly room: number;
  /** Milliseconds of work; `null`: as long as it takes. */
  readonly within: number | null;
}

/** Captures of the workspace out of the tool process, and checkpoints into it. */
export class WorkspaceCheckpoints {
  /** Captures that tools wait for; never rejects. */
  private waited: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** Once no capture is under way that a tool might disturb. Never rejects. */
  get settled(): Promise<unknown> {
    return this.waited;
  }

  /** Tools begin after `capture`, whatever becomes of it. */
  ahead<T>(capture: Promise<T>): Promise<T> {
    const before = this.waited;
    this.waited = Promise.all([before, capture.catch(() => {})]);
    return capture;
  }

  /**
   * A stream of objects that ends with a `CaptureTrailer`. @throws SlipwayError `checkpoint.*`,
   * `sandbox.tool-unavailable`.
   */
  async capture({ chain, after, room, within }: WantedCapture, signal: AbortSignal): Promise<Readable> {
    const query = new URLSearchParams({ chain, room: String(room) });
    if (after !== null) query.set('after', after);
    if (within !== null) query.set('within', String(within));
    return (await this.call({ method: 'POST', signal }, `/checkpoint/capture?${query}`)).body;
  }

  /** `kept`: the next capture follows this one. @throws as `capture`. */
  async settle(chain: string, kept: boolean, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ chain, kept: String(kept) });
    await (await this.call({ method: 'POST', signal }, `/checkpoint/settle?${query}`)).body.dump();
  }

  /** Makes the workspace what the checkpoint is. @throws as `capture`, `sandbox.disk-full`. */
  async restore(
    chain: string,
    { root, over, needs }: RestoreQuery,
    objects: Readable,
    signal: AbortSignal,
  ): Promise<RestoredCheckpoint> {
    const query = new URLSearchParams({ chain, root, over, needs: String(needs) });
    const answer = await this.call({ method: 'PUT', body: objects, signal }, `/checkpoint/restore?${query}`);
    return readable(RestoredCheckpoint.safeParse(await readAnswer(answer)).data);
  }

  private async call(
    call: Pick<OutgoingRequest, 'method' | 'body' | 'signal'>,
    where: string,
  ): Promise<Dispatcher.ResponseData> {
    const headers = { 'x-session-api-key': this.token, 'content-type': CHECKPOINT_CONTENT_TYPE, ...traceHeaders() };
    let answer: Dispatcher.ResponseData;
    try {
      answer = await callOut({ ...call, url: `${this.url}${where}`, headers });
    } catch (error) {
      call.signal.throwIfAborted();
      throw new SlipwayError('sandbox.tool-unavailable', 'The tool process of the sandbox broke off the checkpoint.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    }
    if (answer.statusCode < 300) return answer;
    throw refusedByTool(answer.statusCode, await readAnswer(answer));
  }
}

/** @throws SlipwayError `sandbox.tool-unavailable`. */
export function captureTrailer(value: unknown): CaptureTrailer {
  return readable(CaptureTrailer.safeParse(value).data);
}

function readable<T>(value: T | undefined): T {
  if (value !== undefined) return value;
  throw new SlipwayError('sandbox.tool-unavailable', 'The tool process answered something that could not be read.');
}
