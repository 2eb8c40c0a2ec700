import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { Config } from '../config.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Calls under way at once; more wait for a connection. */
const MAX_CONNECTIONS = 1_024;

/** The provider: where its calls go and with which key. */
export interface Upstream {
  readonly model: string;
  readonly apiKey: string | null;
  readonly origin: string;
  /** Of `…/chat/completions`. */
  readonly path: string;
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

/** HTTP/1.1 with kept connections; through a proxy when the environment names one. */
export function createUpstream(config: Config): Upstream | null {
  if (config.upstream === null) return null;
  const url = new URL(`${config.upstream.baseUrl}/chat/completions`);
  const options = {
    headersTimeout: config.LLM_FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    bodyTimeout: config.LLM_SILENCE_TIMEOUT_SECONDS * 1000,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    allowH2: false,
  };
  const { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy } = config;
  const dispatcher =
    httpProxy === undefined && httpsProxy === undefined
      ? new Pool(url.origin, options)
      : new EnvHttpProxyAgent({
          ...options,
          ...(httpProxy === undefined ? {} : { httpProxy }),
          ...(httpsProxy === undefined ? {} : { httpsProxy }),
          ...(noProxy === undefined ? {} : { noProxy }),
        });
  return {
    model: config.upstream.model,
    apiKey: config.upstream.apiKey,
    origin: url.origin,
    path: url.pathname + url.search,
    dispatcher,
    close: () => dispatcher.destroy(),
  };
}
