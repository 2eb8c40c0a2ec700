import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { InternalSignature } from '@slipway/auth/internal-signature';
import { type BrokerLine, MAX_BROKER_LINE_BYTES } from '@slipway/contracts/credentials';
import { unreachable } from '../admission/refusal.js';

/** Longest wait for credential-broker to take a connection, its name's lookup included. Milliseconds. */
const CONNECT_MS = 5_000;

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** Connections to credential-broker, each begun with one signed line that says whose it is and where it leads. */
export class BrokerClient {
  private readonly signature: InternalSignature;

  /** @param secret BROKER_SECRET. */
  constructor(
    private readonly address: BrokerAddress,
    secret: string,
  ) {
    this.signature = new InternalSignature(secret, 'slipway-broker');
  }

  /**
   * @returns a connection on which what the sandbox sends is written next.
   * @throws SlipwayError `egress.unreachable`: the host is never connected to instead.
   */
  async open(line: BrokerLine, gone: AbortSignal): Promise<Socket> {
    const body = JSON.stringify(line);
    const nonce = randomBytes(16).toString('base64url');
    const said = `${this.signature.sign({ method: 'CONNECT', path: '/', body }, new Date(), nonce)} ${body}\n`;
    if (Buffer.byteLength(said) > MAX_BROKER_LINE_BYTES) throw brokerAway(line.host, 'the line is too long');
    const socket = await this.connect(gone).catch((error: NodeJS.ErrnoException) => {
      throw brokerAway(line.host, error.code ?? error.message, error);
    });
    socket.write(said);
    return socket;
  }

  private connect(gone: AbortSignal): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        ...this.address,
        autoSelectFamily: true,
        allowHalfOpen: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: 15_000,
      });
      const leave = (): void => void socket.destroy(new Error('the caller went away'));
      const late = setTimeout(() => socket.destroy(new Error(`no answer within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
      const settled = (): void => {
        clearTimeout(late);
        gone.removeEventListener('abort', leave);
      };
      const failed = (error: Error): void => {
        settled();
        reject(error);
      };
      gone.addEventListener('abort', leave, { once: true });
      socket.once('error', failed).once('connect', () => {
        settled();
        socket.off('error', failed);
        resolve(socket);
      });
      if (gone.aborted) leave();
    });
  }
}

/** What is said where a connection would need credential-broker and cannot have it. */
export function brokerAway(host: string, why: string, cause?: unknown) {
  return unreachable(
    'broker',
    `${host} is reached through credential-broker, which does not take the connection: ${why}.`,
    cause,
  );
}
