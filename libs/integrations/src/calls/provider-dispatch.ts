import { SlipwayError } from '@slipway/errors';
import { problemOfUrl } from '@slipway/outside';
import { outsideAgent, outsideSocket } from '@slipway/outside/agent';
import { Agent, fetch } from 'undici';
import type { WebSocket } from 'ws';
import type { GitOutgoing } from './git-remote.js';
import type { Outgoing } from './provider-client.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Connections under way at once to one provider. */
const MAX_CONNECTIONS = 32;

/**
 * Sends calls to providers at addresses that admins have typed: to the internet over https, and to the hosts that the
 * operator has named, wherever they are.
 */
export class ProviderDispatch {
  private readonly outside = outsideAgent({ connections: MAX_CONNECTIONS });
  private readonly named = new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } });

  /** @param privateHosts as in URLs, with their port where it is not the usual one. */
  constructor(private readonly privateHosts: readonly string[]) {}

  /**
   * @throws SlipwayError `settings.url-refused` where the address is none of the internet; within the cause of what
   * `fetch` throws where its name turns out to lead inside (`isRefusedAddress`).
   */
  async send(url: string, request: Outgoing | GitOutgoing, signal: AbortSignal): Promise<Response> {
    const named = this.isNamed(url);
    const problem = named ? null : problemOfUrl(new URL(url));
    if (problem !== null) throw new SlipwayError('settings.url-refused', problem);
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
    return outsideSocket(url, { anywhere: this.isNamed(url) });
  }

  async close(): Promise<void> {
    await Promise.all([this.outside.destroy(), this.named.destroy()]);
  }

  private isNamed(url: string): boolean {
    const host = URL.parse(url)?.host;
    return host !== undefined && this.privateHosts.includes(host);
  }
}
