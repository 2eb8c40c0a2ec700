import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Stands between two programs and can go silent, as a network does that is cut in two: what is open stays open and
 * nothing comes, what is begun gets no answer, without a notice. When it heals, what was under way comes through, in
 * order. Or it can refuse, as a host does where no server listens.
 */
export class SilentProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private silent = false;
  private refusing = false;

  private constructor(
    private readonly server: Server,
    private target: URL,
  ) {}

  /** @param target a URL with host and port; the scheme is ignored. */
  static async open(target: string): Promise<SilentProxy> {
    const server = createServer();
    const proxy = new SilentProxy(server, new URL(target));
    server.on('connection', (socket) => proxy.join(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The target's URL, through here. */
  get url(): string {
    return this.target.href.replace(this.target.host, `127.0.0.1:${(this.server.address() as AddressInfo).port}`);
  }

  /** Connections that are open. */
  get open(): number {
    return this.pairs.size;
  }

  silence(): void {
    this.silent = true;
    for (const [near, far] of this.pairs) {
      near.pause();
      far.pause();
    }
  }

  /** What is open stays silent for good; what is begun from now on comes through. */
  forget(): void {
    for (const pair of this.pairs) {
      for (const socket of pair) {
        socket.removeAllListeners('data');
        // Read, so that not even the TCP window reveals it.
        socket.on('data', () => {});
      }
    }
  }

  /** Ends what is open, and every connection as soon as it is made. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /** Connections that are made from now on go there. */
  pointTo(target: string): void {
    this.target = new URL(target);
  }

  heal(): void {
    this.refusing = false;
    this.silent = false;
    for (const [near, far] of this.pairs) {
      near.resume();
      far.resume();
      // One whose end was reset meanwhile: the other one learns it now.
      if (near.destroyed) far.destroy();
      else if (far.destroyed) near.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private cut(): void {
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
  }

  private join(near: Socket): void {
    if (this.refusing) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.target.port), this.target.hostname);
    const pair = [near, far] as const;
    this.pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.setNoDelay(true);
      from.on('data', (chunk) => void to.write(chunk));
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.pairs.delete(pair);
        // The end of one side is no news for the other one while nothing comes through.
        if (!this.silent) to.destroy();
        else this.pairs.add(pair);
      });
    }
    if (this.silent) {
      near.pause();
      far.pause();
    }
  }
}
