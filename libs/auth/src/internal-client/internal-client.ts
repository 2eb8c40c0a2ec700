import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { EgressChange } from '@slipway/contracts/sandboxes';
import { InternalSignature, SIGNATURE_HEADER } from '../internal-signature/internal-signature.js';

/** Longest wait for one answer. Milliseconds. */
const ANSWER_MS = 3_000;
/** Longest silence of the stream of changes, whose other end says every 2 s that it lives. Milliseconds. */
const SILENCE_MS = 6_000;
/** Longest line of the stream. Bytes. */
const MAX_LINE_BYTES = 8 * 1024;
const CONNECTIONS = 64;
/** Pauses between attempts to hear changes. Milliseconds. */
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1_000;
/** After so long a stream that has ended is begun anew without a pause to speak of. Milliseconds. */
const LASTING_MS = 5_000;

export interface InternalClientOptions {
  /** Of app-server's internal port. */
  readonly url: string;
  /** The same in app-server, for this purpose alone. */
  readonly secret: string;
  readonly purpose: string;
  /** Of the stream of changes. */
  readonly changesPath: string;
  /** Bytes. */
  readonly maxAnswerBytes: number;
}

export interface ChangeListener {
  /** @param org `null`: any may have changed, since nothing was heard before. */
  changed(org: string | null): void;
  /** From now on changes are not heard, until `changed(null)`. */
  lost(error: unknown): void;
}

/** Calls app-server's internal port (docs/decisions/0064). Every question is signed, and so is every answer. */
export class InternalClient {
  private readonly signature: InternalSignature;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  constructor(private readonly options: InternalClientOptions) {
    this.signature = new InternalSignature(options.secret, options.purpose);
  }

  /**
   * @returns the answer, and the question's signature, which an answer may be sealed for.
   * @throws Error when app-server cannot be reached within 3 s, or answers with anything that it has not signed.
   */
  async ask(path: string, question: unknown): Promise<{ readonly signed: string; readonly answer: string }> {
    const body = JSON.stringify(question);
    const signed = this.sign('POST', path, body);
    const response = await this.send('POST', path, { body, signed, signal: AbortSignal.timeout(ANSWER_MS) });
    const answer = await textOf(response, this.options.maxAnswerBytes);
    const given = response.headers[SIGNATURE_HEADER];
    if (response.statusCode !== 200) throw new Error(`app-server answered ${response.statusCode}`);
    if (!this.signature.acceptsAnswer(signed, answer, typeof given === 'string' ? given : null))
      throw new Error('the answer is not signed by app-server');
    return { signed, answer };
  }

  /**
   * Hears which organizations have changed, on one stream after the other, until `signal`.
   * @param now milliseconds, of a clock that only goes forward.
   */
  async follow(listener: ChangeListener, now: () => number, signal: AbortSignal): Promise<void> {
    for (let pauseMs = RETRY_MIN_MS; !signal.aborted; ) {
      let openedAt = Number.POSITIVE_INFINITY;
      try {
        for await (const { org } of this.changes(signal)) {
          if (openedAt === Number.POSITIVE_INFINITY) {
            openedAt = now();
            // Whatever was said meanwhile was missed.
            listener.changed(null);
          }
          if (org !== undefined) listener.changed(org);
        }
        throw new Error('the stream has ended');
      } catch (error) {
        listener.lost(error);
        if (signal.aborted) return;
        // One that ends at once each time is no better than none.
        if (now() - openedAt >= LASTING_MS) pauseMs = RETRY_MIN_MS;
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS);
      }
    }
  }

  close(): void {
    this.agent.destroy();
  }

  /** @throws Error when the stream breaks, is silent, or has a line that app-server has not signed. */
  private async *changes(signal: AbortSignal): AsyncGenerator<EgressChange> {
    const { changesPath } = this.options;
    const signed = this.sign('GET', changesPath, '');
    const response = await this.send('GET', changesPath, { body: '', signed, signal });
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`app-server answered ${response.statusCode}`);
    }
    let count = 0;
    for await (const line of linesOf(response)) {
      // `<signature> <JSON>`; the count makes of each line one that cannot be left out or said again.
      const at = line.indexOf(' ');
      const text = line.slice(at + 1);
      if (!this.signature.acceptsAnswer(signed, `${count} ${text}`, line.slice(0, at)))
        throw new Error('a line is not signed by app-server');
      count += 1;
      yield EgressChange.parse(JSON.parse(text));
    }
  }

  private sign(method: string, path: string, body: string): string {
    return this.signature.sign({ method, path, body }, new Date(), randomBytes(16).toString('base64url'));
  }

  private send(
    method: 'GET' | 'POST',
    path: string,
    { body, signed, signal }: { readonly body: string; readonly signed: string; readonly signal: AbortSignal },
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(new URL(path, this.options.url), {
        method,
        signal,
        headers: { [SIGNATURE_HEADER]: signed, 'content-length': Buffer.byteLength(body) },
        // A stream keeps its connection for itself.
        ...(method === 'GET' ? { agent: false as const } : { agent: this.agent }),
      });
      request.setTimeout(SILENCE_MS, () => request.destroy(new Error('app-server is silent')));
      request.once('response', resolve).once('error', reject).end(body);
    });
  }
}

/** @throws Error at a line that is too long. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > MAX_LINE_BYTES) throw new Error('a line of app-server is too long');
  }
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error('the answer of app-server is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
