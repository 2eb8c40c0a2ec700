import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { SlipwayError } from '@slipway/errors';
import { type AddressRules, connectTo, type Resolve, reachableOf } from '@slipway/outside';
import { refused } from '../judge/refusal.js';

/** Longest lookup of a name, and longest handshake. Milliseconds. */
const LOOKUP_MS = 5_000;
const HANDSHAKE_MS = 10_000;

export interface UpstreamOptions {
  readonly addresses: AddressRules;
  readonly resolve: Resolve;
  /** Longest silence. Milliseconds. */
  readonly idleMs: number;
  /** Of the client, with its private key, as PEM; absent: it has none. */
  readonly certificate?: string;
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

/**
 * The connection to a host that belongs to one connection of a sandbox: made for its first request, verified TLS, one
 * at a time, and never shared. The name is resolved once for each, its addresses checked, and one of these connected
 * to.
 */
export class Upstream extends Agent {
  private readonly gone = new AbortController();
  private socket: TLSSocket | null = null;
  private plain: Socket | null = null;
  /** Bytes of connections that have ended. */
  private bytes = { out: 0, in: 0 };

  constructor(
    private readonly destination: Destination,
    private readonly rules: UpstreamOptions,
    /** Called when the host ends the connection. */
    private readonly ended: () => void,
  ) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  }

  /** All that was sent and received. */
  get counts(): { readonly out: number; readonly in: number } {
    return {
      out: this.bytes.out + (this.socket?.bytesWritten ?? 0),
      in: this.bytes.in + (this.socket?.bytesRead ?? 0),
    };
  }

  override createConnection(
    _options: ClientRequestArgs,
    made?: (error: Error | null, socket: TLSSocket) => void,
  ): undefined {
    this.open().then(
      (socket) => made?.(null, socket),
      (error: Error) => made?.(error, undefined as unknown as TLSSocket),
    );
    return undefined;
  }

  /** Ends it at once: the kernel sends nothing more of what it has taken. */
  reset(): void {
    this.plain?.resetAndDestroy();
    this.destroy();
  }

  override destroy(): void {
    this.gone.abort();
    this.socket?.destroy();
    super.destroy();
  }

  /** @throws SlipwayError `credential.unreachable` */
  private async open(): Promise<TLSSocket> {
    const { host, port } = this.destination;
    const addresses = await this.addresses();
    const plain = await connectTo(this.destination, addresses, this.gone.signal).catch(
      (cause: NodeJS.ErrnoException) => {
        const why = cause.code ?? cause.message;
        throw refused(
          'credential.unreachable',
          'unreachable',
          `${host} does not take connections on port ${port}: ${why}.`,
          cause,
        );
      },
    );
    this.plain = plain;
    const socket = await this.handshake(plain);
    socket.setTimeout(this.rules.idleMs, () => socket.destroy(new Error('nothing came for too long')));
    this.socket = socket;
    socket.once('close', () => {
      this.bytes = this.counts;
      if (this.socket === socket) this.socket = null;
      this.ended();
    });
    return socket;
  }

  private handshake(plain: Socket): Promise<TLSSocket> {
    const { host } = this.destination;
    return new Promise((resolve, reject) => {
      const socket = this.secured(plain);
      if (socket === null) {
        plain.destroy();
        const detail = `The client certificate for ${host} cannot be used. Nothing was sent.`;
        reject(refused('credential.rejected', 'rejected', detail));
        return;
      }
      const late = setTimeout(() => socket.destroy(new Error(`no handshake within ${HANDSHAKE_MS} ms`)), HANDSHAKE_MS);
      const failed = (cause: NodeJS.ErrnoException): void => {
        clearTimeout(late);
        plain.destroy();
        reject(
          refused(
            'credential.unreachable',
            'certificate',
            `The TLS connection to ${host} is not safe: ${wordsOf(cause)}. Nothing was sent.`,
            cause,
          ),
        );
      };
      const closed = (): void => failed(new Error('the host ended the handshake'));
      socket.once('error', failed).once('close', closed);
      socket.once('secureConnect', () => {
        clearTimeout(late);
        socket.off('error', failed).off('close', closed);
        resolve(socket);
      });
    });
  }

  /** @returns `null` where the client certificate or its key cannot be read. */
  private secured(socket: Socket): TLSSocket | null {
    const { certificate } = this.rules;
    const servername = this.destination.host;
    const client = certificate === undefined ? {} : { cert: certificate, key: certificate };
    try {
      return connectTls({ socket, servername, ALPNProtocols: ['http/1.1'], ...client });
    } catch {
      return null;
    }
  }

  private async addresses(): Promise<readonly string[]> {
    const { host } = this.destination;
    const found = await within(this.rules.resolve(host)).catch((cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message;
      throw refused('credential.unreachable', 'unresolved', `${host} cannot be resolved: ${why}.`, cause);
    });
    const reachable = reachableOf(found, this.rules.addresses);
    if (reachable.length > 0) return reachable;
    throw refused(
      'credential.unreachable',
      'address',
      `${host} has no address of the internet. An operator who means it so adds the range: BROKER_PERMITTED_RANGES.`,
    );
  }
}

/** What is the matter with a host's TLS, in words. */
function wordsOf({ code, message }: NodeJS.ErrnoException): string {
  const words: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: 'its certificate has expired',
    CERT_NOT_YET_VALID: 'its certificate is not valid yet',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
    INVALID_PURPOSE: 'its certificate is not that of a server',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  };
  return words[code ?? ''] ?? code ?? message;
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LOOKUP_MS} ms`)), LOOKUP_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** A thrown value of the connection, as it is answered. */
export function brokeOff(host: string, cause: NodeJS.ErrnoException): SlipwayError {
  return cause instanceof SlipwayError
    ? cause
    : refused('credential.unreachable', 'unreachable', `${host} broke off: ${cause.code ?? cause.message}.`, cause);
}
