import { SlipwayError } from '@slipway/errors';
import { problemOfUrl } from '@slipway/outside';
import { outsideAgent } from '@slipway/outside/agent';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { Config } from '../config.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Calls under way at once at one address; more wait for a connection. */
const MAX_CONNECTIONS = 1_024;
/** Addresses of callers' own that connections are kept to. */
const MAX_OWN_ORIGINS = 1_000;

type ProxyConfig = Pick<
  Config,
  | 'HTTP_PROXY'
  | 'HTTPS_PROXY'
  | 'NO_PROXY'
  | 'LLM_FIRST_BYTE_TIMEOUT_SECONDS'
  | 'LLM_SILENCE_TIMEOUT_SECONDS'
  | 'ALLOW_PRIVATE_URLS'
>;

/** Connections to providers: HTTP/1.1 and kept; through a proxy when the environment names one. */
export class Dispatchers {
  private readonly pools = new Map<string, Dispatcher>();
  private readonly options;
  private readonly proxy: Dispatcher | null;
  private guarded: Dispatcher | null = null;

  constructor(private readonly config: ProxyConfig) {
    this.options = {
      headersTimeout: config.LLM_FIRST_BYTE_TIMEOUT_SECONDS * 1000,
      bodyTimeout: config.LLM_SILENCE_TIMEOUT_SECONDS * 1000,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
    };
    const { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy } = config;
    this.proxy =
      httpProxy === undefined && httpsProxy === undefined
        ? null
        : new EnvHttpProxyAgent({
            ...this.options,
            ...(httpProxy === undefined ? {} : { httpProxy }),
            ...(httpsProxy === undefined ? {} : { httpsProxy }),
            ...(noProxy === undefined ? {} : { noProxy }),
          });
  }

  /**
   * @param guarded the address was typed by a caller: what is connected to must be on the internet, whatever its name
   * resolves to at that moment. A proxy resolves names by itself, and what it lets through is its to say.
   * @throws SlipwayError `settings.url-refused` for an address that is none of the internet.
   */
  for(origin: string, guarded: boolean): Dispatcher {
    if (guarded && !this.config.ALLOW_PRIVATE_URLS) return this.outside(origin);
    if (this.proxy !== null) return this.proxy;
    let pool = this.pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, this.options);
      this.pools.set(origin, pool);
    }
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values(), this.proxy, this.guarded].map((one) => one?.destroy()));
  }

  private outside(origin: string): Dispatcher {
    const problem = problemOfUrl(new URL(origin));
    if (problem !== null)
      throw new SlipwayError('settings.url-refused', `The address that goes with this key is refused. ${problem}`);
    if (this.proxy !== null) return this.proxy;
    const { connect: _own, ...options } = this.options;
    this.guarded ??= outsideAgent({ ...options, maxOrigins: MAX_OWN_ORIGINS });
    return this.guarded;
  }
}
