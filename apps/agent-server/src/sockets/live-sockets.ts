import { LIVE_OPEN } from '@slipway/contracts/live';
import type { RawData, WebSocket } from 'ws';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import { ByteMask } from '../secrets/byte-mask.js';
import type { SecretMask } from '../secrets/secret-mask.js';

/**
 * What may wait for an end that reads slowly before the other is no longer read, and until how much it is then not.
 * Bytes, each way of each connection.
 */
const HIGH_WATER = 512 * 1024;
const LOW_WATER = 64 * 1024;
/** Longest frame that the tool process may send. Bytes. */
const MAX_FRAME = 32 * 1024 * 1024;
const CONNECT_MS = 5_000;
const PING_MS = 30_000;
/** Most live connections of a sandbox at once. */
const MAX_LIVE = 100;
/**
 * Channels whose bytes are text for a user. Bytes of others are pictures and files, where a frame is a whole and must
 * not be changed.
 */
const TEXT_IN_BYTES: ReadonlySet<string> = new Set(['terminal']);

export interface LiveOptions {
  readonly actionServer: ActionServerClient;
  readonly mask: SecretMask;
  /** Reports that a user works here. */
  readonly used: () => void;
}

/**
 * `/sockets/live/<channel>`: a user's connection to a channel of action-server, joined frame by frame, in order, no
 * faster than each end reads. Known secrets are masked on the way to the user. Ends with 1011 when the tool process
 * goes away or does not answer, 1013 when there are too many, else as the tool process ends it.
 */
export class LiveSockets {
  private readonly open = new Set<WebSocket>();

  constructor(private readonly options: LiveOptions) {}

  /**
   * @param client that is authenticated. @param takeEarly ends the keeping of what it sent meanwhile, and gives that.
   */
  async join(
    client: WebSocket,
    channel: string,
    query: URLSearchParams,
    takeEarly: () => readonly (readonly [RawData, boolean])[],
  ): Promise<void> {
    if (this.open.size >= MAX_LIVE) return client.close(1013, 'too many live connections');
    this.open.add(client);
    client.once('close', () => this.open.delete(client));
    // Nothing more is read of it before the other side stands.
    client.pause();
    const forTool = new URLSearchParams(query);
    // A client that cannot send headers has its credential there.
    forTool.delete('session_api_key');
    const tool = await this.connect(client, channel, forTool);
    if (tool === null) return;
    const heard: Change = (data, binary) => {
      if (binary || !isOfThePage(data)) this.options.used();
      return { data, binary };
    };
    relay(client, tool, heard);
    relay(tool, client, this.hiding(channel));
    const ping = setInterval(() => client.ping(), PING_MS).unref();
    client.once('close', () => {
      clearInterval(ping);
      tool.terminate();
    });
    tool.once('close', (code, reason) => {
      client.resume();
      // 1005 and 1006 are never sent: they say that nothing was.
      if (code === 1005 || code === 1006)
        client.close(1011, 'the tool process of the sandbox went away; connect again');
      else client.close(code, reason);
    });
    client.send(JSON.stringify(LIVE_OPEN));
    for (const [data, binary] of takeEarly()) tool.send(heard(bytesOf(data), binary).data, { binary });
    tool.resume();
    client.resume();
  }

  close(): void {
    for (const client of this.open) {
      client.resume();
      client.close(1001, 'the sandbox is stopping');
    }
  }

  /** Paused, so that no frame is lost before a listener is attached. `null`: the client got the reason. */
  private async connect(client: WebSocket, channel: string, query: URLSearchParams): Promise<WebSocket | null> {
    try {
      const [{ WebSocket: Socket }, { url, headers }] = await Promise.all([
        import('ws'),
        this.options.actionServer.liveAddress(channel, query),
      ]);
      if (client.readyState !== client.OPEN) return null;
      const tool = new Socket(url, {
        headers,
        perMessageDeflate: false,
        maxPayload: MAX_FRAME,
        handshakeTimeout: CONNECT_MS,
      });
      await new Promise<void>((resolve, reject) => {
        tool.once('open', () => {
          tool.pause();
          resolve();
        });
        tool.once('error', reject);
        tool.once('unexpected-response', (_request, response) => {
          tool.terminate();
          reject(response.statusCode === 404 ? new NoSuchChannel() : new Error(`status ${response.statusCode}`));
        });
        client.once('close', () => tool.terminate());
      });
      tool.on('error', () => tool.terminate());
      return tool;
    } catch (error) {
      client.resume();
      if (error instanceof NoSuchChannel) client.close(4004, 'there is no such channel');
      else client.close(1011, 'the tool process of the sandbox does not answer; connect again');
      return null;
    }
  }

  private hiding(channel: string): Change {
    const { mask } = this.options;
    const bytes = TEXT_IN_BYTES.has(channel) ? new ByteMask(mask) : null;
    return (data, binary) => {
      if (!binary) return { data: mask.text(data.toString()), binary };
      return { data: bytes === null ? data : bytes.next(data), binary };
    };
  }
}

class NoSuchChannel extends Error {}

/**
 * What a page sends by itself, with or without a user in front of it: that what came is on the screen, and that it
 * rereads a directory in which names changed.
 */
function isOfThePage(data: Buffer): boolean {
  return /^\{"type":"(?:seen|list|let-go)"/.test(data.toString('latin1', 0, 30));
}

type Change = (data: Buffer, binary: boolean) => { data: Buffer | string; binary: boolean };

/**
 * Sends on what comes, changed; an end that does not read keeps the other from being read. An empty frame is left out.
 */
function relay(from: WebSocket, to: WebSocket, change: Change): void {
  let paused = false;
  from.on('message', (raw: RawData, isBinary: boolean) => {
    if (to.readyState !== to.OPEN) return;
    const { data, binary } = change(bytesOf(raw), isBinary);
    if (data.length === 0) return;
    to.send(data, { binary }, () => {
      if (!paused || to.bufferedAmount > LOW_WATER) return;
      paused = false;
      from.resume();
    });
    if (paused || to.bufferedAmount <= HIGH_WATER) return;
    paused = true;
    from.pause();
  });
}

function bytesOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
}
