import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What the line carries at once for one connection, as a packet does. Bytes. */
const PACKET = 1_400;
/** Most that waits for the line of one connection; then its sender is held. Bytes. */
const MAX_WAITING = 64 * 1_024;
/** Shorter waits are saved up: no timer keeps them. Milliseconds. */
const SHORTEST_WAIT_MS = 4;

/**
 * Stands between a browser and a server as a slow line does: all connections share one speed, each way apart, in turns.
 * Adds no latency of its own.
 */
export class SlowLine {
  private readonly sockets = new Set<Socket>();
  private readonly down: Lanes;
  private readonly up: Lanes;

  private constructor(
    private readonly server: Server,
    private target: URL | null,
    bytesPerSecond: number,
  ) {
    this.down = new Lanes(bytesPerSecond);
    this.up = new Lanes(bytesPerSecond);
  }

  /** @param target a URL with host and port, or `null` until `pointTo`. */
  static async open(target: string | null, bytesPerSecond: number): Promise<SlowLine> {
    const server = createServer();
    const line = new SlowLine(server, target === null ? null : new URL(target), bytesPerSecond);
    server.on('connection', (socket) => line.join(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return line;
  }

  /** The near end of the line. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Bytes that came down the line so far. */
  get carried(): number {
    return this.down.carried;
  }

  pointTo(target: string): void {
    this.target = new URL(target);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(near: Socket): void {
    if (this.target === null) return void near.destroy();
    const far = connect(Number(this.target.port), this.target.hostname);
    this.carry(near, far, this.up);
    this.carry(far, near, this.down);
  }

  private carry(from: Socket, to: Socket, lanes: Lanes): void {
    this.sockets.add(from);
    from.setNoDelay(true);
    const lane = lanes.open(from, to);
    from.on('data', (chunk) => lanes.put(lane, chunk));
    from.on('end', () => lanes.end(lane));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.sockets.delete(from);
      lanes.end(lane);
    });
  }
}

interface Lane {
  readonly from: Socket;
  readonly to: Socket;
  waiting: Buffer;
  ended: boolean;
}

/** One direction of the line. */
class Lanes {
  carried = 0;
  private readonly queue: Lane[] = [];
  private running = false;

  constructor(private readonly bytesPerSecond: number) {}

  open(from: Socket, to: Socket): Lane {
    return { from, to, waiting: Buffer.alloc(0), ended: false };
  }

  put(lane: Lane, chunk: Buffer): void {
    if (lane.waiting.length === 0) this.queue.push(lane);
    lane.waiting = lane.waiting.length === 0 ? chunk : Buffer.concat([lane.waiting, chunk]);
    if (lane.waiting.length > MAX_WAITING) lane.from.pause();
    if (!this.running) void this.run();
  }

  end(lane: Lane): void {
    lane.ended = true;
    if (lane.waiting.length === 0) lane.to.end();
  }

  private async run(): Promise<void> {
    this.running = true;
    let free = performance.now();
    for (let lane = this.queue.shift(); lane !== undefined; lane = this.queue.shift()) {
      const packet = lane.waiting.subarray(0, PACKET);
      lane.waiting = lane.waiting.subarray(packet.length);
      free += (packet.length / this.bytesPerSecond) * 1_000;
      const early = free - performance.now();
      if (early > SHORTEST_WAIT_MS) await wait(early);
      if (lane.to.writable) lane.to.write(packet);
      this.carried += packet.length;
      if (lane.waiting.length > 0) this.queue.push(lane);
      else if (lane.ended) lane.to.end();
      if (lane.waiting.length <= MAX_WAITING && lane.from.isPaused()) lane.from.resume();
    }
    this.running = false;
  }
}
