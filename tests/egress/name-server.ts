import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const A = 1;
const NO_SUCH_NAME = 3;

/** A name server for a few names, each with one IPv4 address; of anything else it says that there is no such name. */
export class NameServer {
  /** Names that were asked for, as they came. */
  readonly asked: string[] = [];

  private readonly socket: Socket;
  private readonly addresses: ReadonlyMap<string, string>;

  private constructor(socket: Socket, addresses: ReadonlyMap<string, string>) {
    this.socket = socket;
    this.addresses = addresses;
    socket.on('message', (query, from) => socket.send(this.answer(query), from.port, from.address));
  }

  static async open(addresses: ReadonlyMap<string, string>): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, addresses);
  }

  /** As variables take it. */
  get address(): string {
    const { address, port } = this.socket.address();
    return `${address}:${port}`;
  }

  close(): void {
    this.socket.close();
  }

  /** RFC 1035, one question: the header, the question as it came, and one record or none. */
  private answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('ascii', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    this.asked.push(name);
    const question = query.subarray(12, at + 5);
    const address = this.addresses.get(name);
    const has = address !== undefined && query.readUInt16BE(at + 1) === A;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (address === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(has ? 1 : 0, 6);
    if (!has) return Buffer.concat([header, question]);
    const record = Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]);
    return Buffer.concat([header, question, record]);
  }
}
