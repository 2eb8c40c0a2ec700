import { sandboxPortOf } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';

/** What a request is for. */
export interface SandboxAddress {
  readonly conversation: string;
  readonly port: number;
  /** Path and query as the sandbox gets them: byte for byte what the client sent, less the prefix. */
  readonly path: string;
  /**
   * `host`: the port has an origin of its own, and cookies work. `path`: the origin is shared, and only headers count.
   */
  readonly way: 'host' | 'path';
  /** Before `path` on this gateway: empty, or `/{conversation}/{port}`. */
  readonly prefix: string;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** `{port}-{conversation}`: one label, 63 characters at most with any of the names. */
const LABEL = new RegExp(`^([a-z0-9-]{1,20})-(${UUID})$`);
const PATH = new RegExp(`^/(${UUID})/([a-z0-9-]{1,20})(?=[/?]|$)`);

/** Reads `Host` and the request line. */
export class Addresses {
  /** `.host[:port]` of the gateway. */
  private readonly suffix: string;

  constructor(gatewayUrl: string) {
    this.suffix = `.${new URL(gatewayUrl).host.toLowerCase()}`;
  }

  /**
   * `null`: for the gateway itself.
   * @throws SlipwayError `request.invalid`, `resource.not-found` for a host below ours that names no sandbox,
   * `sandbox.port-closed`.
   */
  read(host: string | undefined, url: string): SandboxAddress | null {
    // `http://elsewhere/` and `*` are for proxies of another kind; `//` and `\` could be read as another host by
    // whoever gets the path.
    if (!url.startsWith('/')) throw new SlipwayError('request.invalid', 'The request line must hold a path.');
    const name = host?.toLowerCase() ?? '';
    if (name.endsWith(this.suffix)) {
      const label = LABEL.exec(name.slice(0, -this.suffix.length));
      if (label === null)
        throw new SlipwayError(
          'resource.not-found',
          'A sandbox’s address is {port}-{conversation} before the name of this host.',
        );
      return { conversation: label[2] as string, port: open(label[1] as string), path: url, way: 'host', prefix: '' };
    }
    const match = PATH.exec(url);
    if (match === null) return null;
    const rest = url.slice(match[0].length);
    return {
      conversation: match[1] as string,
      port: open(match[2] as string),
      path: rest.startsWith('/') ? rest : `/${rest}`,
      way: 'path',
      prefix: match[0],
    };
  }
}

function open(given: string): number {
  const port = sandboxPortOf(given);
  if (port === null)
    throw new SlipwayError(
      'sandbox.port-closed',
      `“${given}” is not a port that can be reached: it is not from 1024 to 65535, or belongs to the sandbox itself.`,
    );
  return port;
}
