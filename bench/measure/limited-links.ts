import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Addresses of the ends, of the range that is for benches (RFC 2544). `gateway` is this machine's own network. */
export const LINKS = {
  gateway: { client: '198.18.1.1', pod: '198.18.2.1' },
  client: { gateway: '198.18.1.2', pod: '198.18.3.2' },
  pod: { gateway: '198.18.2.2', client: '198.18.3.1' },
} as const;
type Pair = readonly ['gateway' | 'client', 'client' | 'pod'];
const PAIRS: readonly Pair[] = [
  ['gateway', 'client'],
  ['gateway', 'pod'],
  ['client', 'pod'],
];

/**
 * Three networks on one machine, each two joined by a link of one speed: a client's, a pod's, and the machine's own,
 * where the gateway runs. So a direct download takes one link, and one through the gateway two, as on a real network.
 * Ends with `close`; needs root and `ip`, `tc` of iproute2.
 */
export class LimitedLinks {
  private readonly names: Readonly<Record<'client' | 'pod', string>>;

  private constructor(names: LimitedLinks['names']) {
    this.names = names;
  }

  /** @param mbits speed of each link, each way. Mbit/s. @returns why there can be none here, in words. */
  static async open(mbits: number): Promise<LimitedLinks | string> {
    const links = new LimitedLinks({ client: `slp-client-${process.pid}`, pod: `slp-pod-${process.pid}` });
    try {
      for (const name of Object.values(links.names)) await run('ip', ['netns', 'add', name]);
      for (const [index, [one, other]] of PAIRS.entries()) {
        const ends = [`slpb${index}a`, `slpb${index}b`] as const;
        await run('ip', ['link', 'add', ends[0], 'type', 'veth', 'peer', 'name', ends[1]]);
        await links.end(ends[0], one, (LINKS[one] as Record<string, string>)[other] as string, mbits);
        await links.end(ends[1], other, (LINKS[other] as Record<string, string>)[one] as string, mbits);
      }
      return links;
    } catch (error) {
      await links.close();
      return String((error as { stderr?: string }).stderr || (error as Error).message).trim();
    }
  }

  /** Command and arguments that run a program in one of the networks. */
  within(
    place: 'client' | 'pod',
    command: string,
    argv: readonly string[],
  ): readonly [command: string, argv: string[]] {
    return ['ip', ['netns', 'exec', this.names[place], command, ...argv]];
  }

  async close(): Promise<void> {
    // A link goes with either of its ends.
    for (const name of Object.values(this.names)) await run('ip', ['netns', 'del', name]).catch(() => {});
  }

  private async end(
    device: string,
    place: 'gateway' | 'client' | 'pod',
    address: string,
    mbits: number,
  ): Promise<void> {
    const at = place === 'gateway' ? [] : ['-n', this.names[place]];
    if (place !== 'gateway') await run('ip', ['link', 'set', device, 'netns', this.names[place]]);
    await run('ip', [...at, 'address', 'add', `${address}/30`, 'dev', device]);
    await run('ip', [...at, 'link', 'set', device, 'up']);
    // What may go at once is a millisecond of it: less would hold up the segments that the kernel makes.
    const burst = Math.max(128_000, mbits * 125);
    await run('tc', [
      ...at,
      'qdisc',
      'add',
      'dev',
      device,
      'root',
      'tbf',
      'rate',
      `${mbits}mbit`,
      'burst',
      String(burst),
      'latency',
      '20ms',
    ]);
  }
}
