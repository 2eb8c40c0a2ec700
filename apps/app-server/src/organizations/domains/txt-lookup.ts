import { Resolver } from 'node:dns/promises';
import { SlipwayError } from '@slipway/errors';

/** One try of one name server, and tries of each. A lookup ends within the product, times the servers. Milliseconds. */
const TRY_MS = 2_500;
const TRIES = 2;
/** Longest in all. Milliseconds. */
const LIMIT_MS = 8_000;

/** TXT records of a name, each in one piece. */
export class TxtLookup {
  /** @param servers `address:port` each; absent: the machine's own. */
  constructor(private readonly servers?: readonly string[]) {}

  /**
   * A name without any is an empty list. Fails closed: @throws SlipwayError `domain.lookup-failed` when no server says
   * anything certain in time.
   */
  async find(name: string): Promise<string[]> {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (this.servers !== undefined) resolver.setServers(this.servers);
    const limit = setTimeout(() => resolver.cancel(), LIMIT_MS);
    try {
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''));
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'ENOTFOUND' || code === 'ENODATA') return [];
      throw new SlipwayError('domain.lookup-failed', `The record ${name} could not be resolved.`, {
        cause: error,
        retryAfterSeconds: 10,
      });
    } finally {
      clearTimeout(limit);
    }
  }
}
