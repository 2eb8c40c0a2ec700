import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { ERRORS } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { HeldAnswer } from '../control/held-answer.js';
import type { HeldCredentials } from '../control/held-credentials.js';
import type { Resting } from '../control/resting.js';
import { UseAsking } from '../control/use-asking.js';
import type { UseTallies } from '../control/use-tallies.js';
import { type AccessTokens, withToken } from '../forms/access-tokens.js';
import { refusedPush } from '../git/push.js';
import type { Tunnel } from '../intake/tunnel.js';
import { type Judged, judgeRequest, type Passed, passAgain } from '../judge/judge-request.js';
import { answerOf, reasonOf, refused } from '../judge/refusal.js';
import { type RequestHead, readHead, readHeaders, valuesOf } from '../judge/request-head.js';
import type { BodyWatch } from '../leaving/body-watch.js';
import type { BrokerMetrics } from '../metrics.js';
import { upstreamFor } from './certified.js';
import { forward, tooLarge } from './forward.js';
import type { Found } from './masking.js';
import { hasBody, type Outgoing, prepare, type RefusedPush } from './outgoing.js';
import type { UpstreamOptions } from './upstream.js';
import { assertWebSocket, maySpeak } from './websocket.js';

/** Most that is read of a refused push, so that git hears the answer, and longest for it. Bytes, milliseconds. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 30_000;

export interface RequestServiceOptions {
  readonly held: HeldCredentials;
  readonly tokens: AccessTokens;
  readonly resting: Resting;
  readonly asking: UseAsking;
  readonly uses: UseTallies;
  readonly metrics: BrokerMetrics;
  readonly logger: Logger;
  readonly bodies: Pick<BodyWatch, 'watch'>;
  readonly upstream: UpstreamOptions;
  readonly maxBodyBytes: number;
}

export interface Exchange {
  readonly tunnel: Tunnel;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client sends the body only when it is asked for. */
  readonly expects: boolean;
  /** Of a request for a WebSocket, what came behind it; `null` for any other. */
  readonly early: Buffer | null;
}

/** What is known of a request so far. */
interface Seen {
  answer: HeldAnswer | null;
  credential: string | null;
  rule: string | null;
  over: () => void;
}

interface Outcome {
  /** `passed`, or the reason. */
  readonly verdict: string;
  readonly status: number;
}

/**
 * Serves requests of sandboxes. In this order: whether it can be read in one way, which rules and credentials there
 * are, a rule that refuses it, its place, what it brings of its own, for a push its references, and where the place
 * asks a user's yes; only then a connection is made. Each is a line of the log, without path, query or header.
 */
export class RequestService {
  /** Nothing new is passed on. */
  closed = false;

  constructor(private readonly options: RequestServiceOptions) {}

  async serve(exchange: Exchange): Promise<void> {
    const { metrics, logger } = this.options;
    const { tunnel } = exchange;
    const { claim, org, conversation, host, port } = tunnel.line;
    const since = performance.now();
    const seen: Seen = { answer: null, credential: null, rule: null, over: () => {} };
    tunnel.busy += 1;
    let outcome: Outcome;
    try {
      outcome = await this.pass(exchange, seen, since);
    } catch (error) {
      outcome = { verdict: reasonOf(error), status: this.refuse(exchange, error) };
      if (outcome.verdict === 'failed') logger.error({ err: error, claim_id: claim, host }, 'broker');
    } finally {
      seen.over();
      seen.answer?.release();
      tunnel.busy -= 1;
    }
    const verdict = outcome.verdict === 'passed' && tunnel.cut !== null ? `cut: ${tunnel.cut}` : outcome.verdict;
    metrics.requests.inc({ outcome: outcome.verdict });
    logger.info(
      {
        claim_id: claim,
        org_id: org,
        conversation_id: conversation,
        host,
        port,
        credential: seen.credential,
        ...(seen.rule === null ? {} : { rule: seen.rule }),
        verdict,
        status: outcome.status,
        elapsed_ms: Math.round(performance.now() - since),
      },
      'broker',
    );
  }

  private async pass(
    { tunnel, request, response, expects, early }: Exchange,
    seen: Seen,
    since: number,
  ): Promise<Outcome> {
    const { held, tokens, resting, metrics, maxBodyBytes } = this.options;
    const { line } = tunnel;
    if (this.closed) throw refused('service.unavailable', 'stopping', 'This replica is about to end; connect again.');
    const head = readHead(request, line, early !== null);
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    const answer = await held.lease(line);
    seen.answer = answer;
    const judged = judgeRequest(head, line, resting.of(answer), new Date());
    if (early !== null) assertWebSocket(request, judged, line.host);
    seen.credential = judged.credential?.id ?? null;
    seen.rule = judged.credential === null ? judged.rule : null;
    seen.over = this.watch(tunnel, head, judged, early !== null);
    const asked = judged.credential !== null && UseAsking.concerns(judged, null);
    if (asked) await this.settle(judged, head, { tunnel, response, refs: [] });
    const token = judged.credential === null ? null : await tokens.of(line, judged);
    if (expects) response.writeContinue();
    const outgoing = await prepare(
      token === null || judged.credential === null ? judged : withToken(judged, token),
      request,
      line.port === 443 ? line.host : `${line.host}:${line.port}`,
      new Date(),
    );
    // Reading the body took its time, and so did getting a token.
    const waited = asked || token !== null || (hasBody(request) && ('refused' in outgoing || outgoing.held !== null));
    if (judged.credential !== null) {
      if (answer.forgotten && waited) await this.confirm(tunnel, judged);
      if ('refused' in outgoing) return this.refusePush(response, judged, outgoing);
    }
    if ('refused' in outgoing) throw new Error('a push without a place was judged');
    const refs = outgoing.push?.commands.map(({ ref }) => ref) ?? null;
    if (judged.credential !== null && refs !== null && UseAsking.concerns(judged, refs)) {
      try {
        await this.settle(judged, head, { tunnel, response, refs });
      } catch (error) {
        return this.refuseAsked(response, outgoing, error);
      }
      if (answer.forgotten) await this.confirm(tunnel, judged);
    }
    if (judged.credential !== null) this.options.uses.used(line, judged.used, judged.place);
    for (const { id, use, endsAt } of judged.used) {
      tunnel.used.set(id, JSON.stringify(use));
      tunnel.endsAt = Math.min(tunnel.endsAt, endsAt);
    }
    tunnel.confirmedAt = performance.now();
    metrics.seconds.observe((performance.now() - since) / 1000);
    this.options.bodies.watch({ line, ...outgoing });
    const status = await forward(request, response, {
      tunnel,
      upstream: upstreamFor(tunnel, judged, this.options.upstream),
      judged,
      outgoing,
      needles: token === null ? answer.needles : [...token.needles, ...answer.needles],
      found: this.reflected(tunnel),
      maxBodyBytes,
      minAgeDays: answer.minAgeDays,
      early,
    });
    // It may have been revoked there: the next request gets another one.
    if (status === 401 && token !== null) tokens.drop(token);
    return { verdict: 'passed', status };
  }

  /** Returns when app-server lets the credential be used; while the client waits. */
  private async settle(
    judged: Judged,
    head: RequestHead,
    { tunnel, response, refs }: { readonly tunnel: Tunnel; readonly response: ServerResponse; readonly refs: string[] },
  ): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once('close', leave);
    try {
      await this.options.asking.settle({ line: tunnel.line, judged, head, refs, signal: gone.signal });
    } finally {
      response.off('close', leave);
    }
  }

  /** git prints the reason at each branch. @throws what was thrown, where git cannot be answered. */
  private async refuseAsked(response: ServerResponse, { push, body }: Outgoing, error: unknown): Promise<Outcome> {
    if (!(error instanceof SlipwayError) || push === undefined || body === null) throw error;
    await drain(body);
    const { nextStep } = ERRORS[error.code];
    const reasons = new Map(push.commands.map(({ ref }) => [ref, error.detail] as const));
    this.answerPush(response, refusedPush(reasons, push.capabilities, `${error.detail} ${nextStep}`));
    return { verdict: reasonOf(error), status: 200 };
  }

  private answerPush(response: ServerResponse, body: Buffer): void {
    response
      .writeHead(200, {
        'content-type': 'application/x-git-receive-pack-result',
        'content-length': body.length,
        'cache-control': 'no-store',
      })
      .end(body);
  }

  /** From now on it is cut where rules do not allow it any more. @returns what ends that. */
  private watch(tunnel: Tunnel, head: RequestHead, passed: Passed, isWebSocket: boolean): () => void {
    const check = (answer: HeldAnswer): boolean => {
      const again = passAgain(passed, head, tunnel.line, {
        available: this.options.resting.of(answer),
        now: new Date(),
      });
      return again !== null && (!isWebSocket || maySpeak(again));
    };
    tunnel.running.add(check);
    return () => tunnel.running.delete(check);
  }

  /** @throws SlipwayError `credential.undecided` where what was judged does not hold any more, after a change. */
  private async confirm({ line }: Tunnel, { credential, used }: Judged): Promise<void> {
    const again = await this.options.held.lease(line);
    const now = new Map(this.options.resting.of(again).credentials.map((each) => [each.id, each]));
    const same = [credential, ...used].every(({ id, use, value }) => {
      const other = now.get(id);
      return other !== undefined && JSON.stringify(other.use) === JSON.stringify(use) && other.value.equals(value);
    });
    again.release();
    if (!same)
      throw refused(
        'credential.undecided',
        'undecided',
        'The credential was changed while the request came; send it again.',
      );
  }

  /** Once for each credential of an answer. */
  private reflected({ line }: Tunnel): Found {
    const { resting, metrics, logger } = this.options;
    const seen = new Set<string>();
    return ({ credential }) => {
      if (seen.has(credential.id)) return;
      seen.add(credential.id);
      metrics.reflected.inc();
      logger.warn(
        {
          claim_id: line.claim,
          org_id: line.org,
          conversation_id: line.conversation,
          host: line.host,
          credential: credential.id,
          verdict: 'reflected',
        },
        'broker',
      );
      resting.begin(credential, line);
    };
  }

  private async refusePush(
    response: ServerResponse,
    { place, credential }: Judged,
    { push, refused: reasons, body: rest }: RefusedPush,
  ): Promise<Outcome> {
    await drain(rest);
    const allowed = place.git?.push ?? [];
    const sentence =
      allowed.length === 0
        ? `nothing may be pushed with ${credential.name}`
        : `with ${credential.name} only ${allowed.slice(0, 5).join(', ')} may be pushed`;
    this.answerPush(response, refusedPush(reasons, push.capabilities, `${sentence}; nothing was pushed`));
    return { verdict: 'push', status: 200 };
  }

  private refuse({ request, response, expects }: Exchange, error: unknown): number {
    const git = valuesOf(readHeaders(request.rawHeaders), 'user-agent').some((agent) => /^git\//i.test(agent));
    const { status, phrase, headers, body } = answerOf(error, git);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return status;
    }
    // Whether the body still comes is not known.
    if (expects || this.closed) response.shouldKeepAlive = false;
    response.writeHead(status, phrase, { ...headers }).end(request.method === 'HEAD' ? undefined : body);
    return status;
  }
}

/** Reads on to the end of a body, within bounds. */
async function drain(body: Readable): Promise<void> {
  let length = 0;
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, DRAIN_MS);
    const over = (): void => {
      clearTimeout(late);
      resolve();
    };
    body.once('end', over).once('close', over).once('error', over);
    body.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > DRAIN_BYTES) over();
    });
    if (body.readableEnded || body.destroyed) over();
    else body.resume();
  });
}
