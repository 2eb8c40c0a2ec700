import { SlipwayError } from '@slipway/errors';
import {
  type HostPattern,
  isInsideName,
  isMetadataHost,
  isName,
  isPublicAddress,
  namesHost,
  readHostPattern,
} from '@slipway/net';

/**
 * Which hosts the installation lets an organization allow, on its own ports; about all others nobody is asked. Held by
 * egress-proxy for each connection, and by app-server when a rule is saved.
 */
export class OrgHosts {
  private readonly only: readonly HostPattern[] | null;
  private readonly never: readonly HostPattern[];
  private readonly ports: ReadonlySet<number> | null;

  /** @throws SlipwayError `config.invalid` that names every entry that is no host. */
  constructor({
    only,
    never,
    ports,
  }: {
    readonly only: string;
    readonly never: readonly string[];
    /** `null`: all of them. */
    readonly ports: readonly number[] | null;
  }) {
    this.only = only === 'any' ? null : patterns('EGRESS_ORG_HOSTS', only.split(','));
    this.never = patterns('EGRESS_NEVER_HOSTS', never);
    this.ports = ports === null ? null : new Set(ports);
  }

  /** What the host's name resolves to is checked when it is connected to. */
  mayAllow({ host, port }: { readonly host: string; readonly port: number }): boolean {
    if (this.ports?.has(port) === false || isMetadataHost(host)) return false;
    if (isName(host) ? isInsideName(host) : !isPublicAddress(host)) return false;
    return this.isOffered(host);
  }

  /**
   * Why a rule for these hosts would let nothing through, as the end of a sentence; `null`: it would. Of `*.name` some
   * hosts may be out of reach all the same.
   */
  problemOf({ host, below, port }: HostPattern): string | null {
    if (port !== null && this.ports?.has(port) === false) return `port ${port} is not open to sandboxes`;
    // Any of them: which there are is not known.
    const offered = this.isOffered(below ? `any-name.${host}` : host);
    return offered ? null : `${below ? `*.${host}` : host} is not among the hosts that organizations may allow`;
  }

  private isOffered(host: string): boolean {
    if (this.never.some((pattern) => namesHost(pattern, host))) return false;
    return this.only === null || this.only.some((pattern) => namesHost(pattern, host));
  }
}

function patterns(variable: string, texts: readonly string[]): HostPattern[] {
  return texts.flatMap((text) => {
    const trimmed = text.trim();
    if (trimmed === '') return [];
    const pattern = readHostPattern(trimmed);
    if (pattern === null)
      throw new SlipwayError(
        'config.invalid',
        `configuration:\n  ${variable}: "${trimmed.slice(0, 100)}" is no host, such as *.example.com`,
      );
    return [pattern];
  });
}
