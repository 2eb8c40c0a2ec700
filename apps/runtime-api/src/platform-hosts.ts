import { lookup as lookUp } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import type { HostAddress } from '@slipway/sandbox/adapters/kubernetes';
import type { Logger } from '@slipway/telemetry';

/** Interval of resolving the names. Milliseconds; shorter while one was never resolved. */
const LOOK_EVERY_MS = 15_000;
const MISSING_EVERY_MS = 1_000;
/** Longest wait for one answer. Milliseconds. */
const LOOKUP_TIMEOUT_MS = 5_000;

/** Every address of a name. Rejects when there is none. */
export type Lookup = (name: string) => Promise<ReadonlyArray<{ readonly address: string; readonly family: number }>>;

/**
 * The addresses of the platform's services that sandboxes call, which they cannot resolve themselves. An address stays
 * for as long as its name still has it, and while the resolver does not answer: a pool is renewed only for an address
 * that no longer counts.
 */
export class PlatformHosts {
  private readonly known = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private missing: string | null = null;
  private readonly names: readonly string[];

  /** @param hosts addresses among them are no names, and left out. */
  constructor(
    hosts: readonly string[],
    private readonly logger: Logger,
    private readonly lookup: Lookup = (name) => lookUp(name, { all: true }),
  ) {
    this.names = [...new Set(hosts)].filter((host) => isIP(host) === 0).sort();
  }

  /** Resolves once, and from then on periodically. Never rejects. */
  async start(): Promise<this> {
    await this.look();
    return this;
  }

  /**
   * One address for each name. @throws SlipwayError `sandbox.cluster-unavailable` that says which name was never found.
   */
  get addresses(): readonly HostAddress[] {
    const { missing } = this;
    if (missing !== null) throw new SlipwayError('sandbox.cluster-unavailable', missing);
    return this.names.map((name) => ({ name, address: this.known.get(name) ?? '' }));
  }

  /** Why no sandbox can be made, in a sentence; `null`: each name has its address. */
  get problem(): string | null {
    return this.missing;
  }

  /** Resolves every name once, and the next one after a while. */
  async look(): Promise<void> {
    clearTimeout(this.timer);
    await Promise.all(this.names.map((name) => this.lookAt(name)));
    const unknown = this.names.filter((name) => !this.known.has(name));
    this.missing =
      unknown.length === 0
        ? null
        : `Sandboxes need the address of ${unknown.join(', ')}, and the name is not found (SANDBOX_HOSTS, EGRESS_PROXY_URL).`;
    if (this.closed || this.names.length === 0) return;
    this.timer = setTimeout(() => void this.look(), this.missing === null ? LOOK_EVERY_MS : MISSING_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private async lookAt(name: string): Promise<void> {
    const before = this.known.get(name);
    try {
      const found = await within(LOOKUP_TIMEOUT_MS, this.lookup(name));
      if (before !== undefined && found.some(({ address }) => address === before)) return;
      const [best] = [...found].sort((a, b) => a.family - b.family || (a.address < b.address ? -1 : 1));
      if (best === undefined) return;
      this.known.set(name, best.address);
      if (before !== undefined)
        this.logger.warn(
          { host: name, before, address: best.address },
          'address of a platform host changed, blank sandboxes are replaced',
        );
    } catch (error) {
      if (before === undefined)
        this.logger.warn(
          { err: error, host: name },
          'failed to resolve a platform host, no sandbox is made without its address',
        );
    }
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
