import { WANTS_GATEWAY_KEY_HEADER } from '@slipway/contracts/agent';
import { ORG_HEADER, Runtime, SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { Pool } from 'undici';

/** Where one port of a sandbox answers. */
export interface Target {
  /** `http://address:port`. */
  readonly origin: string;
  /** Session key of agent-server; `null` on every other port, which never gets it. */
  readonly sessionKey: string | null;
  /** Authenticates this gateway at agent-server; `null` from an earlier runtime-api, and on every other port. */
  readonly gatewayKey: string | null;
}

/**
 * Oldest answer of runtime-api that is believed. Milliseconds: an address of a pod that is gone may soon be another
 * tenant's, so there is no going on with an old one.
 */
const MAX_AGE_MS = 1_000;
/**
 * From this age on a request renews the answer beside itself, so that none of a busy sandbox waits for it.
 * Milliseconds.
 */
const RENEW_AFTER_MS = 500;
const TIMEOUT_MS = 3_000;
/** Conversations whose answer is remembered; about 1 kB each. */
const MAX_REMEMBERED = 10_000;
/** Retry-After of a sandbox that is on its way, and of one that starts only on request. Seconds. */
const STARTING_SECONDS = 2;
const RESTING_SECONDS = 10;
/** Local addresses and metadata services of clouds. An app's port is never reached on them. */
const OWN_ADDRESS = /^(localhost|127\.|0\.|169\.254\.|\[::1?\]$|\[::ffff:|\[fe80:)/;

interface Known {
  readonly runtime: Runtime | null;
  readonly askedAt: number;
}

/**
 * Asks runtime-api where a conversation's sandbox is. Never starts one: reaching into a sandbox is looking, not
 * wanting. Without runtime-api new requests fail within a second (`service.unavailable`); what is open already goes on,
 * it needs no address any more.
 */
export class Locator {
  private readonly pool: Pool;
  private readonly known = new Map<string, Known>();
  private readonly asking = new Map<string, Promise<Known>>();

  constructor(
    private readonly options: {
      readonly runtimeApiUrl: string;
      readonly apiKey: string;
      readonly appPorts: 'open' | 'closed';
    },
  ) {
    this.pool = new Pool(new URL(options.runtimeApiUrl).origin, {
      connections: 16,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      connect: { timeout: TIMEOUT_MS },
    });
  }

  /**
   * @throws SlipwayError `sandbox.paused`, `sandbox.starting`, `sandbox.not-running`, `sandbox.unreachable`,
   * `sandbox.port-closed`, `service.unavailable`
   */
  find(orgId: string, conversation: string, port: number): Target | Promise<Target> {
    const key = `${orgId} ${conversation}`;
    const known = this.known.get(key);
    const age = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.askedAt;
    if (known !== undefined && age < MAX_AGE_MS) {
      if (age >= RENEW_AFTER_MS) this.ask(key, orgId, conversation).catch(() => {});
      return this.target(known.runtime, port);
    }
    return this.ask(key, orgId, conversation).then(({ runtime }) => this.target(runtime, port));
  }

  /** The address did not answer: the next request resolves it again. */
  forget(orgId: string, conversation: string): void {
    this.known.delete(`${orgId} ${conversation}`);
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }

  private ask(key: string, orgId: string, conversation: string): Promise<Known> {
    const running = this.asking.get(key);
    if (running !== undefined) return running;
    const asking = this.askRuntimeApi(orgId, conversation)
      .then((known) => {
        this.known.delete(key);
        this.known.set(key, known);
        const [oldest] = this.known.keys();
        if (this.known.size > MAX_REMEMBERED && oldest !== undefined) this.known.delete(oldest);
        return known;
      })
      .finally(() => this.asking.delete(key));
    this.asking.set(key, asking);
    return asking;
  }

  private async askRuntimeApi(orgId: string, conversation: string): Promise<Known> {
    const askedAt = performance.now();
    try {
      const { statusCode, body } = await this.pool.request({
        method: 'GET',
        path: `/sessions/${conversation}`,
        headers: { 'x-api-key': this.options.apiKey, [ORG_HEADER]: orgId, [WANTS_GATEWAY_KEY_HEADER]: '1' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await body.text();
      if (statusCode === 404) return { runtime: null, askedAt };
      if (statusCode !== 200) throw new Error(`runtime-api answered ${statusCode}`);
      return { runtime: Runtime.parse(JSON.parse(text)), askedAt };
    } catch (error) {
      throw new SlipwayError('service.unavailable', 'Where the sandbox is cannot be found out now.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    }
  }

  private target(runtime: Runtime | null, port: number): Target {
    if (runtime === null || runtime.status === 'stopped')
      throw new SlipwayError('sandbox.not-running', 'This conversation has no sandbox now.', {
        retryAfterSeconds: RESTING_SECONDS,
      });
    if (runtime.status === 'paused')
      throw new SlipwayError('sandbox.paused', 'The sandbox is paused. Resume the conversation to reach into it.', {
        retryAfterSeconds: RESTING_SECONDS,
      });
    if (runtime.status === 'starting')
      throw new SlipwayError('sandbox.starting', 'The sandbox is starting.', { retryAfterSeconds: STARTING_SECONDS });
    if (runtime.status === 'error')
      throw new SlipwayError('sandbox.unreachable', 'The sandbox has failed.', { retryAfterSeconds: STARTING_SECONDS });
    const url = new URL(runtime.url);
    if (port === SANDBOX_PORTS['agent-server'])
      return { origin: url.origin, sessionKey: runtime.session_api_key, gatewayKey: runtime.gateway_api_key ?? null };
    if (this.options.appPorts === 'closed' || OWN_ADDRESS.test(url.hostname))
      throw new SlipwayError(
        'sandbox.port-closed',
        'Sandboxes on this machine are processes without a network of their own: only their agent-server (port 8000) can be reached. On Kubernetes ports of apps can.',
      );
    return { origin: `http://${url.hostname}:${port}`, sessionKey: null, gatewayKey: null };
  }
}
