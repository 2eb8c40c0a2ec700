import type { Socket } from 'node:net';
import { InternalSignature } from '@slipway/auth/internal-signature';
import { BrokerLine } from '@slipway/contracts/credentials';
import { startBytes } from './test-egress.js';

export const BROKER_SECRET = 'broker-secret-of-tests-0123456789abcdef';

/** What credential-broker hears: its first line, which it takes once and signed, and what comes after it. */
export interface Heard {
  /** `null` where the signature does not hold. */
  readonly line: BrokerLine | null;
  /** Everything after the line, as it comes. */
  bytes: string;
  readonly socket: Socket;
}

export interface TestBroker {
  readonly port: number;
  readonly heard: Heard[];
  close(): Promise<void>;
}

/** A server that takes credential-broker's first line and answers what comes after it. */
export async function startBroker(serve: (heard: Heard, chunk: string) => void, port = 0): Promise<TestBroker> {
  const signature = new InternalSignature(BROKER_SECRET, 'slipway-broker');
  const heard: Heard[] = [];
  const server = await startBytes(
    (socket) => {
      let before = '';
      let one: Heard | null = null;
      socket.on('data', (chunk) => {
        const text = chunk.toString('latin1');
        if (one !== null) {
          one.bytes += text;
          return serve(one, text);
        }
        before += text;
        const end = before.indexOf('\n');
        if (end < 0) return;
        const [said, rest] = [before.slice(0, end), before.slice(end + 1)];
        const at = said.indexOf(' ');
        const body = said.slice(at + 1);
        const holds = signature.accepts(said.slice(0, at), { method: 'CONNECT', path: '/', body }, new Date());
        one = { line: holds ? BrokerLine.parse(JSON.parse(body)) : null, bytes: rest, socket };
        heard.push(one);
        if (rest !== '') serve(one, rest);
      });
      socket.on('end', () => socket.end());
    },
    '127.0.0.1',
    port,
  );
  return { ...server, heard };
}
