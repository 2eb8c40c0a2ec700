import type { Readable } from 'node:stream';
import { ARCHIVE_CONTENT_TYPE, ARCHIVE_SKIPPED_HEADER } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import type { Dispatcher } from 'undici';
import { callOut, type OutgoingRequest, readAnswer } from '../http/outgoing.js';
import { refusedByTool } from './tool-process-failure.js';

/** The workspace in one stream, out of the tool process and into it. */
export class WorkspaceArchive {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /**
   * The workspace as action-server keeps it: one stream that breaks off when it is not whole. @throws SlipwayError
   * `sandbox.archive-*`, `sandbox.tool-unavailable`.
   */
  async read(signal: AbortSignal): Promise<{ stream: Readable; skipped: number }> {
    const answer = await this.transfer({ method: 'GET', signal });
    return { stream: answer.body, skipped: Number(answer.headers[ARCHIVE_SKIPPED_HEADER] ?? 0) };
  }

  /**
   * Puts a kept workspace in place of what is there. @throws as `read`, and `sandbox.disk-full`: what is there
   * then is a part.
   */
  async write(source: Readable, signal: AbortSignal): Promise<void> {
    const answer = await this.transfer({ method: 'PUT', body: source, signal });
    await answer.body.dump();
  }

  private async transfer(call: Pick<OutgoingRequest, 'method' | 'body' | 'signal'>): Promise<Dispatcher.ResponseData> {
    const headers = { 'x-session-api-key': this.token, 'content-type': ARCHIVE_CONTENT_TYPE, ...traceHeaders() };
    let answer: Dispatcher.ResponseData;
    try {
      answer = await callOut({ ...call, url: `${this.url}/archive/workspace`, headers });
    } catch (error) {
      call.signal.throwIfAborted();
      throw new SlipwayError('sandbox.tool-unavailable', 'The tool process of the sandbox broke off the archive.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    }
    if (answer.statusCode < 300) return answer;
    throw refusedByTool(answer.statusCode, await readAnswer(answer));
  }
}
