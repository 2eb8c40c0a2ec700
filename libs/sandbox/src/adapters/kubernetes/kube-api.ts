import http from 'node:http';
import https from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { createSecureContext } from 'node:tls';
import type { ClusterAccess, Credentials } from './cluster-access.js';
import { ClusterError, type ClusterStatus, noAnswer, readStatus, refusal } from './cluster-error.js';
import { PROTOBUF, readStatusMessage } from './pod-wire.js';
import { backOff, type Timing } from './timing.js';
import { type Budget, TokenBucket } from './token-bucket.js';

/** Kinds of work that must not wait for each other: each has its own connections and its own pace. */
export type BudgetName = 'claim' | 'refill' | 'watch';
export type Budgets = Readonly<Record<BudgetName, Budget>>;

/**
 * An API server's fair share for one client is some hundred requests at once; three replicas stay far below. A relist
 * of 10,000 pods in pages takes 20 at once.
 */
export const BUDGETS: Budgets = {
  claim: { rate: 100, burst: 100, connections: 16 },
  refill: { rate: 30, burst: 60, connections: 8 },
  watch: { rate: 10, burst: 60, connections: 6 },
};

/**
 * Longest wait for a whole answer. Milliseconds; the server itself gives up after 60 s, and callers do not wait that
 * long.
 */
const TIMEOUT_MS = 10_000;
/** Longest wait for a list, or a page of one, and for the head of a watch. Milliseconds. */
const LIST_TIMEOUT_MS = 30_000;
/**
 * An answer that takes so long, or never comes, is the sign of a server that stands still, not of a busy one: its own
 * target is 1 s for a call of one object. Milliseconds.
 */
const STANDSTILL_MS = 5_000;
/**
 * How often credentials are read again. Milliseconds; a service account's token is exchanged ten minutes before its
 * end.
 */
const CREDENTIALS_KEPT_MS = 60_000;
/** Attempts of one call without an answer, or with a server error. */
const ATTEMPTS = 3;
/** Tries of one call that the server puts off by 429: nothing was done, and it says when to come again. */
const PUT_OFF_ATTEMPTS = 6;
const RETRY_BASE_MS = 100;
const RETRY_MOST_MS = 2_000;
/** Used when a 429 names no time. Milliseconds. */
const RETRY_AFTER_MS = 1_000;
const JSON_TYPE = 'application/json';
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 4 * 1024 * 1024;

interface Call {
  readonly budget: BudgetName;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** For sentences of errors: `make the sandbox`. */
  readonly doing: string;
  readonly signal: AbortSignal;
  readonly body?: object;
  readonly contentType?: string;
  readonly timeoutMs?: number;
  /** Takes Kubernetes' binary form of the answer while it arrives; asked for then [JSON only]. A new one an attempt. */
  readonly binary?: () => BinaryReading;
}

/** Something that reads an answer in Kubernetes' binary form; its errors say that it is broken. */
export interface BinaryReading {
  push(bytes: Uint8Array): void;
  end(): unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The bytes as text. */
  readonly body: string;
  /** What the binary reading made of it; then there are no bytes. */
  readonly value?: unknown;
}

export interface WriteCall extends Pick<Call, 'budget' | 'path' | 'doing' | 'signal'> {
  readonly body: object;
}

export interface DeleteCall extends Pick<Call, 'budget' | 'path' | 'doing' | 'signal'> {
  readonly options: { readonly uid: string; readonly graceSeconds?: number };
}

/**
 * The few calls to the API server that sandboxes need.
 *
 * Every call may be sent twice: a create has a name of its own, a delete and a patch name the uid, the rest reads. So a
 * call without an answer, or answered 5xx, is tried three times; one that is put off (429) waits as long as the server
 * says, and with it everything of its budget.
 *
 * @throws ClusterError with the cluster's own words, without an answer (`sandbox.cluster-unavailable`) or the answer is
 * a refusal.
 */
export class KubeApi {
  private readonly buckets: Readonly<Record<BudgetName, TokenBucket>>;
  private credentials: { readonly value: Credentials; readonly key: string; readonly readAt: number } | null = null;
  private agents = new Map<BudgetName, http.Agent>();
  private agentsOf = '';
  /**
   * When the newest call ended that had no answer for seconds, or none at all; minus infinity when there was none. A
   * server that stands still keeps its watches open.
   */
  stoodStillAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly access: ClusterAccess,
    private readonly timing: Timing,
    private readonly budgets: Budgets = BUDGETS,
  ) {
    this.buckets = {
      claim: new TokenBucket(budgets.claim, timing),
      refill: new TokenBucket(budgets.refill, timing),
      watch: new TokenBucket(budgets.watch, timing),
    };
  }

  /** `null` when there is none. */
  async get(budget: BudgetName, path: string, doing: string, signal: AbortSignal): Promise<unknown> {
    const answer = await this.call({ budget, method: 'GET', path, doing, signal });
    if (answer.status === 404) return null;
    return this.expect(answer, doing);
  }

  /** `exists` when there is one of that name. */
  async create({ budget, path, body, doing, signal }: WriteCall): Promise<unknown | 'exists'> {
    const answer = await this.call({ budget, method: 'POST', path, body, doing, signal });
    if (answer.status === 409 && readStatus(answer.body).reason === 'AlreadyExists') return 'exists';
    return this.expect(answer, doing);
  }

  /** A merge patch. `null` when there is none, or `metadata.uid` of the patch is another's. */
  async patch({ budget, path, body, doing, signal }: WriteCall): Promise<unknown> {
    const answer = await this.call({
      budget,
      method: 'PATCH',
      path,
      body,
      contentType: 'application/merge-patch+json',
      doing,
      signal,
    });
    if (
      answer.status === 404 ||
      answer.status === 409 ||
      (answer.status === 422 && answer.body.includes('metadata.uid'))
    )
      return null;
    return this.expect(answer, doing);
  }

  /** @returns `conflict` when the one of that name has another uid. */
  async delete({ budget, path, options, doing, signal }: DeleteCall): Promise<'accepted' | 'gone' | 'conflict'> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: options.uid },
      ...(options.graceSeconds === undefined ? {} : { gracePeriodSeconds: options.graceSeconds }),
    };
    const answer = await this.call({ budget, method: 'DELETE', path, body, doing, signal });
    if (answer.status === 404) return 'gone';
    if (answer.status === 409) return 'conflict';
    this.expect(answer, doing);
    return 'accepted';
  }

  /**
   * A list, or a page of it. @param binary reads Kubernetes' binary form, which is asked for then; a server may answer
   * JSON all the same.
   */
  async list(path: string, doing: string, signal: AbortSignal, binary?: () => BinaryReading): Promise<unknown> {
    const more = binary === undefined ? {} : { binary };
    const answer = await this.call({
      budget: 'watch',
      method: 'GET',
      path,
      doing,
      signal,
      timeoutMs: LIST_TIMEOUT_MS,
      ...more,
    });
    if (answer.value !== undefined) return answer.value;
    if (!isBinary(answer.headers)) return this.expect(answer, doing);
    let status: ClusterStatus;
    try {
      status = readStatusMessage(answer.bytes);
    } catch (error) {
      throw noAnswer(doing, error);
    }
    throw refusal(answer.status, status, doing);
  }

  /**
   * The lines of a watch, until the server ends it. Never tried again: whoever follows it knows where to go on. @param
   * onOpen called when the server has accepted it.
   */
  async *watch(path: string, doing: string, signal: AbortSignal, onOpen: () => void): AsyncGenerator<string, void> {
    await this.buckets.watch.take(signal);
    let response: http.IncomingMessage | undefined;
    try {
      response = await this.open({ budget: 'watch', method: 'GET', path, doing, signal }, LIST_TIMEOUT_MS);
      if (response.statusCode !== 200) {
        const answer = await answerOf(response);
        if (answer.status === 429) this.buckets.watch.pause(retryAfterMs(answer));
        if (answer.status === 401) this.credentials = null;
        this.expect(answer, doing);
      }
      onOpen();
      yield* lines(response);
    } catch (error) {
      throw error instanceof ClusterError || signal.aborted ? error : noAnswer(doing, error);
    } finally {
      response?.destroy();
    }
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.agents.values()) agent.destroy();
    this.agents.clear();
  }

  private async call(call: Call): Promise<Answer> {
    let renewed = false;
    let failures = 0;
    let putOff = 0;
    while (true) {
      await this.take(call);
      const sentAt = this.timing.now();
      let answer: Answer;
      try {
        const response = await this.open(call, call.timeoutMs ?? TIMEOUT_MS);
        answer = await answerOf(response, call.binary);
      } catch (error) {
        if (error instanceof ClusterError && error.code === 'sandbox.forbidden') throw error;
        failures += 1;
        if (call.signal.aborted || failures >= ATTEMPTS)
          throw error instanceof ClusterError ? error : noAnswer(call.doing, error);
        await this.pause(call, backOff(failures, RETRY_BASE_MS, RETRY_MOST_MS, this.timing));
        continue;
      } finally {
        if (this.timing.now() - sentAt > STANDSTILL_MS) this.stoodStillAt = this.timing.now();
      }
      if (answer.status === 401 && !renewed) {
        renewed = true;
        this.credentials = null;
      } else if (answer.status === 429 && ++putOff < PUT_OFF_ATTEMPTS) {
        this.buckets[call.budget].pause(retryAfterMs(answer) * (1 + this.timing.random() / 4));
      } else if (answer.status >= 500 && ++failures < ATTEMPTS) {
        await this.pause(
          call,
          Math.max(retryAfterMs(answer, 0), backOff(failures, RETRY_BASE_MS, RETRY_MOST_MS, this.timing)),
        );
      } else return answer;
    }
  }

  private expect(answer: Answer, doing: string): unknown {
    if (answer.status >= 200 && answer.status < 300) return JSON.parse(answer.body) as unknown;
    throw refusal(answer.status, readStatus(answer.body), doing);
  }

  private async take(call: Call): Promise<void> {
    try {
      await this.buckets[call.budget].take(call.signal);
    } catch (error) {
      throw noAnswer(call.doing, error);
    }
  }

  private async pause(call: Call, milliseconds: number): Promise<void> {
    try {
      await this.timing.wait(milliseconds, call.signal);
    } catch (error) {
      throw noAnswer(call.doing, error);
    }
  }

  /** Sends a request. @returns the head of the answer; its body must be read within the same time, except a watch's. */
  private async open(call: Call, timeoutMs: number): Promise<http.IncomingMessage> {
    const { tls, authorization } = await this.readCredentials();
    const { server } = this.access;
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const isWatch = call.path.includes('watch=');
    return new Promise((resolve, reject) => {
      const over = server.protocol === 'https:' ? https : http;
      const request = over.request(
        new URL(`${server.pathname.replace(/\/$/, '')}${call.path}`, server),
        {
          method: call.method,
          agent: this.agent(call.budget, tls),
          signal: call.signal,
          headers: {
            accept: call.binary === undefined ? JSON_TYPE : `${PROTOBUF}, ${JSON_TYPE};q=0.9`,
            'user-agent': 'slipway-runtime-api',
            ...(authorization === null ? {} : { authorization }),
            ...(body === undefined
              ? {}
              : { 'content-type': call.contentType ?? 'application/json', 'content-length': String(body.length) }),
          },
        },
        (response) => {
          if (isWatch) clearTimeout(timer);
          else response.once('close', () => clearTimeout(timer));
          resolve(response);
        },
      );
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      request.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end(body);
    });
  }

  private async readCredentials(): Promise<Credentials> {
    const now = this.timing.now();
    if (this.credentials !== null && now - this.credentials.readAt < CREDENTIALS_KEPT_MS) return this.credentials.value;
    const value = await this.access.credentials().catch((error: unknown) => {
      throw new ClusterError('sandbox.forbidden', error instanceof Error ? error.message : String(error), 401, error);
    });
    this.credentials = { value, key: JSON.stringify(Object.values(value.tls).map(String)), readAt: now };
    return value;
  }

  /** Connections of other certificates are not used any more; what runs over them ends by itself. */
  private agent(budget: BudgetName, tls: Credentials['tls']): http.Agent {
    const key = this.credentials?.key ?? '';
    if (key !== this.agentsOf) {
      this.agents = new Map();
      this.agentsOf = key;
    }
    const known = this.agents.get(budget);
    if (known !== undefined) return known;
    const options = { keepAlive: true, keepAliveMsecs: 15_000, maxSockets: this.budgets[budget].connections };
    // Made once: it takes 2 ms, for each new connection otherwise, of which there are many while the server is away.
    const { ca, cert, key: privateKey, ...others } = tls;
    const secure = (): https.AgentOptions => ({
      ...others,
      secureContext: createSecureContext({ ca, cert, key: privateKey }),
    });
    const made =
      this.access.server.protocol === 'https:' ? new https.Agent({ ...options, ...secure() }) : new http.Agent(options);
    this.agents.set(budget, made);
    return made;
  }
}

/** A `Status` that came where an object was expected, such as the ERROR event of a watch. */
export function statusError(status: ClusterStatus, doing: string): ClusterError {
  return refusal(status.code ?? 500, status, doing);
}

function retryAfterMs(answer: Answer, otherwise = RETRY_AFTER_MS): number {
  const seconds = Number(answer.headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1_000 : otherwise;
}

function isBinary(headers: http.IncomingHttpHeaders): boolean {
  return (headers['content-type'] ?? '').startsWith(PROTOBUF);
}

async function answerOf(response: http.IncomingMessage, binary?: () => BinaryReading): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  if (binary !== undefined && status === 200 && isBinary(headers)) {
    const reading = binary();
    for await (const chunk of response as AsyncIterable<Buffer>) reading.push(chunk);
    return { status, headers, bytes: Buffer.alloc(0), body: '', value: reading.end() };
  }
  const bytes = await readWhole(response);
  return {
    status,
    headers,
    bytes,
    get body() {
      return bytes.toString('utf8');
    },
  };
}

async function readWhole(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* lines(response: http.IncomingMessage): AsyncGenerator<string, void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const parts = (rest + decoder.write(chunk)).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') yield part;
    if (rest.length > MAX_LINE_CHARACTERS) throw new Error('a line of the watch is too long');
  }
}
