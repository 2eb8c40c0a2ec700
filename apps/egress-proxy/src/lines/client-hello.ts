/** What the first bytes of a connection say of TLS. */
export type FirstBytes =
  | { readonly kind: 'more' }
  | { readonly kind: 'not-tls' }
  /** It begins like TLS and goes on like nothing that a client would send. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'hello'; readonly serverName: string | null };

const HANDSHAKE_RECORD = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** Longest ClientHello that is read; with post-quantum keys they have about two thousand bytes. */
export const MAX_HELLO_BYTES = 32 * 1024;

/**
 * Reads as far as the name of the server that a TLS client asks for (RFC 8446 4.1.2, RFC 6066 3), whose form it keeps.
 * Nothing is decrypted.
 */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return { kind: 'more' };
  if (bytes[0] !== HANDSHAKE_RECORD) return { kind: 'not-tls' };
  const message = handshakeOf(bytes);
  if (message === 'malformed') return { kind: 'malformed' };
  if (message.length < 4) return { kind: 'more' };
  const length = message.readUIntBE(1, 3);
  if (message[0] !== CLIENT_HELLO || length > MAX_HELLO_BYTES) return { kind: 'malformed' };
  if (message.length < 4 + length) return { kind: 'more' };
  try {
    return { kind: 'hello', serverName: serverNameOf(new Reader(message.subarray(4, 4 + length))) };
  } catch {
    return { kind: 'malformed' };
  }
}

/** The handshake bytes of as many records as are there. */
function handshakeOf(bytes: Buffer): Buffer | 'malformed' {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return parts.length > 0 ? Buffer.concat(parts) : 'malformed';
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return 'malformed';
    if (bytes.length < at + 5) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 16_384) return 'malformed';
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

function serverNameOf(hello: Reader): string | null {
  // Version and random.
  hello.take(34);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.done) return null;
  const extensions = new Reader(hello.vector(2));
  let name: string | null = null;
  while (!extensions.done) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    if (name !== null) throw new Error('two names');
    const names = new Reader(new Reader(body).vector(2));
    while (!names.done) {
      const isHost = names.number(1) === 0;
      const text = names.vector(2).toString('latin1');
      if (!isHost || name !== null) throw new Error('a name of another kind, or a second one');
      name = text;
    }
  }
  return name;
}

/** Fields one after the other. @throws RangeError where the bytes end too early. */
class Reader {
  private at = 0;
  constructor(private readonly bytes: Buffer) {}
  get done(): boolean {
    return this.at === this.bytes.length;
  }
  take(length: number): Buffer {
    if (this.at + length > this.bytes.length) throw new RangeError('the bytes end too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }
  vector(size: number): Buffer {
    return this.take(this.number(size));
  }
}
