import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { BrokerLine } from '@slipway/contracts/credentials';
import { OTHER_TYPE } from '@slipway/contracts/sandboxes';
import { SHINGLE_BYTES } from '@slipway/net';
import { type RequestHead, valuesOf } from '../judge/request-head.js';
import type { BodyCounts } from './body-counts.js';
import { BodyScan } from './body-scan.js';
import type { Workspaces } from './workspaces.js';

/** Bytes of a body that are kept until its workspace is known, and of all bodies together. */
const MAX_HELD_BYTES = 1024 * 1024;
const MAX_ALL_HELD_BYTES = 32 * 1024 * 1024;
/** Bytes that wait to be unpacked. */
const MAX_PACKED_BYTES = 1024 * 1024;
/** `bytesWritten`: of what was given to it, what it has unpacked. */
type Decoder = Transform & { readonly bytesWritten: number };
const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,40}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,58}$/;

export interface WatchedBody {
  readonly line: BrokerLine;
  readonly head: RequestHead;
  /** Of the body, what was read already, and the rest. */
  readonly held: Buffer | null;
  readonly body: Readable | null;
}

/**
 * Looks at bodies as they pass: how large, of which type, and how much of each is text of the workspace. A body is
 * never held up by it: what cannot be compared in time or within bounds is counted as unread.
 */
export class BodyWatch {
  private held = 0;

  constructor(
    private readonly workspaces: Pick<Workspaces, 'of' | 'take'>,
    private readonly tallies: { add(line: BrokerLine, counts: BodyCounts): void },
  ) {}

  watch({ line, head, held, body }: WatchedBody): void {
    if (body === null && (held === null || held.length === 0)) return;
    const look = new Look(line, head, { workspaces: this.workspaces, room: (bytes) => this.room(bytes) });
    const over = (): void => {
      body?.off('data', push).off('end', over).off('close', over);
      void look.end().then((counts) => counts.bytes > 0 && this.tallies.add(line, counts));
    };
    const push = (chunk: Buffer): void => look.push(chunk);
    if (held !== null) look.push(held);
    if (body === null || body.readableEnded || body.destroyed) over();
    else body.on('data', push).once('end', over).once('close', over);
  }

  /** @returns whether so many more bytes may be held; a negative number gives them back. */
  private room(bytes: number): boolean {
    if (bytes > 0 && this.held + bytes > MAX_ALL_HELD_BYTES) return false;
    this.held += bytes;
    return true;
  }
}

interface Around {
  readonly workspaces: Pick<Workspaces, 'of' | 'take'>;
  readonly room: (bytes: number) => boolean;
}

class Look {
  private readonly type: string;
  private readonly decoder: Decoder | null;
  private readonly decoded: Promise<void>;
  private bytes = 0;
  /** When no more is compared: how much of it was. */
  private readBytes: number | null = null;
  private scan: BodyScan | null = null;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private known: Promise<void> | null = null;

  constructor(
    private readonly line: BrokerLine,
    { headers }: RequestHead,
    private readonly around: Around,
  ) {
    this.type = typeOf(valuesOf(headers, 'content-type'));
    const encodings = valuesOf(headers, 'content-encoding').filter((each) => !/^identity$/i.test(each.trim()));
    const decoder = DECODERS[encodings.join().trim().toLowerCase()]?.() ?? null;
    if (encodings.length > 0 && decoder === null) this.readBytes = 0;
    this.decoder = decoder;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.decoded = decoder === null ? Promise.resolve() : promise;
    decoder
      ?.on('data', (chunk: Buffer) => this.compare(chunk))
      .on('error', () => this.stop())
      .once('close', resolve);
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.readBytes !== null) return;
    // A shorter one has no shingle.
    if (this.bytes >= SHINGLE_BYTES || this.decoder !== null) this.known ??= this.learn();
    if (this.decoder === null) this.compare(chunk);
    else if (this.decoder.writableLength + chunk.length <= MAX_PACKED_BYTES) this.decoder.write(chunk);
    else this.stop();
  }

  async end(): Promise<BodyCounts> {
    if (this.decoder !== null && !this.decoder.destroyed) this.decoder.end();
    await this.decoded;
    await this.known;
    // Nothing was known of the workspace, and nothing had to be.
    if (this.known === null) this.drop();
    const found = this.scan?.found() ?? new Map<string, number>();
    return { type: this.type, bytes: this.bytes, unreadBytes: this.bytes - (this.readBytes ?? this.bytes), found };
  }

  private async learn(): Promise<void> {
    const prints = await this.around.workspaces.of(this.line);
    const waiting = this.drop();
    if (prints === null) {
      this.stop(0);
      return;
    }
    this.scan = new BodyScan(prints, this.type);
    for (const chunk of waiting) this.scan.push(chunk);
  }

  private compare(chunk: Buffer): void {
    if (this.readBytes !== null) return;
    const before = this.decoder?.bytesWritten ?? this.bytes - chunk.length;
    if (!this.around.workspaces.take(this.line, chunk.length)) this.stop(before);
    else if (this.scan !== null) this.scan.push(chunk);
    else if (this.hasRoom(chunk.length)) this.waiting.push(chunk);
    else this.stop(before);
  }

  /** The bytes are then held. */
  private hasRoom(bytes: number): boolean {
    if (this.waitingBytes + bytes > MAX_HELD_BYTES || !this.around.room(bytes)) return false;
    this.waitingBytes += bytes;
    return true;
  }

  /** No more is compared. @param readBytes of what has come; what is unpacked lags behind that. */
  private stop(readBytes = this.decoder?.bytesWritten ?? 0): void {
    this.readBytes ??= Math.min(readBytes, this.bytes);
    this.decoder?.destroy();
  }

  private drop(): readonly Buffer[] {
    const { waiting } = this;
    this.around.room(-this.waitingBytes);
    this.waiting = [];
    this.waitingBytes = 0;
    return waiting;
  }
}

/** `''`: it names none. */
function typeOf([first = '']: readonly string[]): string {
  const type = (first.split(';', 1)[0] ?? '').trim().toLowerCase();
  return type === '' || TYPE.test(type) ? type : OTHER_TYPE;
}
