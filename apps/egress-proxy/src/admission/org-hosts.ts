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
import type { Destination } from './destination.js';

/** Which hosts the installation lets an organization allow, on its own ports; about all others nobody is asked. */
export class OrgHosts {
  private readonly only: readonly HostPattern[] | null;
  private readonly never: readonly HostPattern[];
  private readonly ports: ReadonlySet<number>;

  /** @throws SlipwayError `config.invalid` that names every entry that is no host. */
  constructor({
    only,
    never,
    ports,
  }: {
    readonly only: string;
    readonly never: readonly string[];
    readonly ports: readonly number[];
  }) {
    this.only = only === 'any' ? null : patterns('EGRESS_ORG_HOSTS', only.split(','));
    this.never = patterns('EGRESS_NEVER_HOSTS', never);
    this.ports = new Set(ports);
  }

  /** What the host's name resolves to is checked when it is connected to. */
  mayAllow({ host, port }: Destination): boolean {
    if (!this.ports.has(port) || isMetadataHost(host)) return false;
    if (isName(host) ? isInsideName(host) : !isPublicAddress(host)) return false;
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
