import { readFileSync } from 'node:fs';
import { type EgressClaims, EgressRules } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { type HostPattern, namesHost, readHostPattern } from '@slipway/net';
import type { Destination } from './destination.js';
import { refused } from './refusal.js';

/** Which hosts each class and template may reach, and on which ports. */
export class HostRules {
  private readonly common: readonly HostPattern[];
  private readonly packages: readonly HostPattern[];
  private readonly byTemplate: ReadonlyMap<string, readonly HostPattern[]>;
  private readonly ports: ReadonlySet<number>;

  /** @throws SlipwayError `config.invalid` that names every entry that is no host. */
  constructor(rules: EgressRules, ports: readonly number[]) {
    const wrong: string[] = [];
    const read = (where: string, hosts: readonly string[]): HostPattern[] =>
      hosts.flatMap((text) => {
        const pattern = readHostPattern(text);
        if (pattern === null)
          wrong.push(
            `${where}: "${text.slice(0, 100)}" is no host, such as mirror.example.com, *.example.com or mirror.example.com:8443`,
          );
        return pattern === null ? [] : [pattern];
      });
    this.common = read('commonHosts', rules.commonHosts);
    this.packages = read('packageHosts', rules.packageHosts);
    this.byTemplate = new Map(
      rules.templates.map(({ name, allowedHosts }) => [name, read(`templates.${name}.allowedHosts`, allowedHosts)]),
    );
    this.ports = new Set(ports);
    if (wrong.length > 0)
      throw new SlipwayError('config.invalid', `configuration:\n  EGRESS_RULES: ${wrong.join('\n  EGRESS_RULES: ')}`);
  }

  /** Why the installation's own list does not let a sandbox reach a host, and who can change it; `null`: it does. */
  problemOf({ egress, template }: EgressClaims, { host, port }: Destination): SlipwayError | null {
    const own = egress === 'packages' ? this.packages : (this.byTemplate.get(template) ?? []);
    const named = [...own, ...this.common].filter((pattern) => namesHost(pattern, host));
    if (named.some((pattern) => (pattern.port === null ? this.ports.has(port) : pattern.port === port))) return null;
    if (named.length > 0)
      return refused(
        'port',
        `Port ${port} of ${host} is not open to sandboxes. An operator can add it: EGRESS_PORTS (egress.ports of the chart), or ${host}:${port} in the list.`,
      );
    const list =
      egress === 'packages'
        ? 'the package hosts of this installation (egress.packageHosts)'
        : `allowedHosts of the sandbox template "${template}"`;
    return refused('host', `${host} is not among ${list}. An operator can add it there.`);
  }
}

/** Reads EGRESS_RULES. @throws SlipwayError `config.invalid` that names the file or every wrong field. */
export function loadRules(given: string): EgressRules {
  let value: unknown;
  try {
    value = JSON.parse(/^\s*\{/.test(given) ? given : readFileSync(given, 'utf8'));
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? 'is not JSON'
        : `${given} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
    throw new SlipwayError('config.invalid', `configuration:\n  EGRESS_RULES: ${why}`, { cause: error });
  }
  return parseOrThrow(EgressRules, value, 'config.invalid');
}
