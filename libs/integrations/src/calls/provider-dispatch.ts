import { SlipwayError } from '@slipway/errors';
import { isInsideLiteral, publicLookup } from '@slipway/net/public-lookup';
import { Agent, fetch } from 'undici';
import { type ClientOptions, WebSocket } from 'ws';
import type { GitOutgoing } from './git-remote.js';
import type { Outgoing } from './provider-client.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Longest frame of a socket. Bytes. */
const MAX_FRAME_BYTES = 1024 * 1024;
/** Connections under way at once to one provider. */
const MAX_CONNECTIONS = 32;

/**
 * Sends calls to providers at addresses that admins have typed: to the internet over https, and to the hosts that the
 * operator has named, wherever they are.
 */
export class ProviderDispatch {
  private readonly outside = agent({ lookup: publicLookup(refused) });
  private readonly named = agent({});

  /** @param privateHosts as in URLs, with their port where it is not the usual one. */
  constructor(private readonly privateHosts: readonly string[]) {}

  /**
   * @throws SlipwayError `settings.url-refused`; within the cause of what `fetch` throws when a name turns out to lead
   * inside.
   */
  async send(url: string, request: Outgoing | GitOutgoing, signal: AbortSignal): Promise<Response> {
    const { protocol, host, hostname } = new URL(url);
    const named = this.privateHosts.includes(host);
    if (!named && (protocol !== 'https:' || isInsideLiteral(hostname))) throw refused();
    const answer = await fetch(url, {
      ...request,
      signal: AbortSignal.any([request.signal, signal]),
      dispatcher: named ? this.named : this.outside,
    });
    return answer as unknown as Response;
  }

  /**
   * A socket under the same guard: `wss:` to the internet. @throws SlipwayError `settings.url-refused`; as an `error`
   * of the socket when a name turns out to lead inside.
   */
  socket(url: string): WebSocket {
    const parsed = URL.parse(url);
    const named = parsed !== null && this.privateHosts.includes(parsed.host);
    if (
      parsed === null ||
      !(named ? ['ws:', 'wss:'] : ['wss:']).includes(parsed.protocol) ||
      (!named && isInsideLiteral(parsed.hostname))
    )
      throw refused();
    const options = {
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    };
    return new WebSocket(parsed, { ...options, ...(named ? {} : { lookup: publicLookup(refused) }) } as ClientOptions);
  }

  async close(): Promise<void> {
    await Promise.all([this.outside.destroy(), this.named.destroy()]);
  }
}

/** Whether a call was not made because of where its address leads. */
export function isRefusedAddress(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof SlipwayError && each.code === 'settings.url-refused') return true;
  return false;
}

function agent(connect: Agent.Options['connect'] & object): Agent {
  return new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS, ...connect } });
}

function refused(): SlipwayError {
  return new SlipwayError('settings.url-refused', 'The address of the connection is none of the internet.');
}
