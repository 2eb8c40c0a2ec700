import { Resolver } from 'node:dns/promises';

/** Every address of a name, of both families. @throws when there is none, or it is unknown. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** For one question to one server, and how often it is asked again. Milliseconds. */
const ASK_MS = 1_500;
const TRIES = 2;

/**
 * Asks for the name as it is: no search domains, which would try names of the cluster, and no pool of four threads,
 * which one sandbox could keep busy for all.
 * @param servers `address` or `address:port`; those of this machine when there are none.
 */
export function createResolver(servers: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: ASK_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  };
}
