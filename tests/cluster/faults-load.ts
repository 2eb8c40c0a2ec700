import { setTimeout as wait } from 'node:timers/promises';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { percentile } from '../../bench/measure/percentile.ts';

/** One requested session, and what was answered. */
export interface WantedSession {
  readonly org: string;
  readonly id: string;
  /** Reaches the sandbox as SLIPWAY_OWNER: whoever else has it has got a tenant's data. */
  readonly mark: string;
  /** The last good answer; `null` while there is none. */
  answer: Runtime | null;
  /** Its end was requested. */
  ended: boolean;
}

export interface Outcome {
  readonly session: WantedSession;
  readonly status: number;
  /** The problem's code, or the network's words; `null` for a good answer. */
  readonly problem: string | null;
  /** From the moment at which it should have been sent. Milliseconds. */
  readonly ms: number;
  /** When it should have been sent, by `performance.now()`. */
  readonly at: number;
}

export interface OpenLoop {
  /** Starts a second. */
  readonly rate: number;
  readonly seconds: number;
  /** How long a session lasts before it is stopped. Milliseconds; it stays when not given. */
  readonly holdMs?: number;
  /** Asks again, perhaps elsewhere, until it is answered [false]: what a caller does whose replica died. */
  readonly retry?: boolean;
}

/** A caller waits for so long. Milliseconds; as Slipway's worker. */
const ANSWER_TIMEOUT_MS = 20_000;
const RETRY_MS = 100;
const RETRY_FOR_MS = 40_000;
const ORGS = 5;

/** Callers of runtime-api that know it only by HTTP. */
export class Load {
  readonly sessions: WantedSession[] = [];
  private sent = 0;

  private readonly address: () => string;
  private readonly apiKey: string;
  private readonly prefix: string;

  /** @param address where the next request goes, and another one the next time when there are several. */
  constructor(address: () => string, apiKey: string, prefix: string = 'session') {
    this.address = address;
    this.apiKey = apiKey;
    this.prefix = prefix;
  }

  newSession(): WantedSession {
    const number = this.sessions.length;
    const org = `org-${number % ORGS}`;
    const id = `${this.prefix}-${number}`;
    const session = { org, id, mark: `mark-of-${org}-${id}`, answer: null, ended: false };
    this.sessions.push(session);
    return session;
  }

  async start(session: WantedSession, at = performance.now(), retry = false): Promise<Outcome> {
    const end = performance.now() + (retry ? RETRY_FOR_MS : 0);
    while (true) {
      const { status, body, problem } = await this.ask('POST', '/start', session.org, {
        session_id: session.id,
        environment: { SLIPWAY_OWNER: session.mark },
      });
      if (problem === null) session.answer = body as Runtime;
      if (problem === null || performance.now() > end)
        return { session, status, problem, ms: performance.now() - at, at };
      await wait(RETRY_MS);
    }
  }

  /** Ends it, however often it has to be asked for. */
  async stop(session: WantedSession): Promise<void> {
    session.ended = true;
    if (session.answer === null) return;
    const { runtime_id } = session.answer;
    for (const end = performance.now() + RETRY_FOR_MS; performance.now() < end; await wait(RETRY_MS)) {
      const { status } = await this.ask('POST', '/stop', session.org, { runtime_id });
      if (status === 200 || status === 404) return;
    }
    throw new Error(`${session.id} could not be stopped`);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.sessions.filter(({ ended }) => !ended).map((session) => this.stop(session)));
  }

  /** What runtime-api says of it now. */
  async look(session: WantedSession): Promise<Runtime> {
    const { body, status, problem } = await this.ask('GET', `/sessions/${session.id}`, session.org);
    if (status !== 200) throw new Error(`/sessions/${session.id}: ${problem}`);
    return body as Runtime;
  }

  /** Starts new sessions by the clock, whether or not those before were answered. */
  async run({ rate, seconds, holdMs, retry = false }: OpenLoop): Promise<Outcome[]> {
    const began = performance.now();
    const started: Promise<Outcome>[] = [];
    const stopping: Promise<void>[] = [];
    for (let index = 0; index < rate * seconds; index += 1) {
      const at = began + (index * 1_000) / rate;
      await wait(Math.max(0, at - performance.now()));
      const outcome = this.start(this.newSession(), at, retry);
      started.push(outcome);
      if (holdMs !== undefined)
        stopping.push(outcome.then(({ session }) => wait(holdMs).then(() => this.stop(session))));
    }
    const outcomes = await Promise.all(started);
    await Promise.all(stopping);
    return outcomes;
  }

  async ask(
    method: 'GET' | 'POST',
    path: string,
    org: string,
    body?: object,
  ): Promise<{ status: number; body: unknown; problem: string | null }> {
    this.sent += 1;
    try {
      const response = await fetch(`${this.address()}${path}`, {
        method,
        headers: {
          'x-api-key': this.apiKey,
          'x-slipway-org': org,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const answer = (await response.json()) as { code?: string; detail?: string };
      return {
        status: response.status,
        body: answer,
        problem: response.ok ? null : `${answer.code}: ${answer.detail}`,
      };
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      return { status: 0, body: null, problem: cause?.code ?? String(error) };
    }
  }
}

/** Those that were not answered with a sandbox, in words: how many of each kind. */
export function failuresOf(outcomes: readonly Outcome[]): string[] {
  const kinds = new Map<string, string[]>();
  for (const { session, status, problem } of outcomes)
    if (problem !== null) kinds.set(`${status} ${problem}`, [...(kinds.get(`${status} ${problem}`) ?? []), session.id]);
  return [...kinds].map(([kind, ids]) => `${ids.length} × ${kind} (${ids[0]} to ${ids.at(-1)})`);
}

export function timesOf(outcomes: readonly Outcome[]): { p50: number; p99: number; max: number; n: number } {
  const good = outcomes.filter(({ problem }) => problem === null).map(({ ms }) => ms);
  return { p50: percentile(good, 0.5), p99: percentile(good, 0.99), max: percentile(good, 1), n: good.length };
}
