import { type AgentClient, isMissing } from '@slipway/agent-client';
import { Envelope, secretContext } from '@slipway/auth/envelope';
import { type SandboxSecrets } from '@slipway/contracts/agent';
import { repositoryKey, type SecretScope } from '@slipway/contracts/secrets';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import { type BrokeredCredential, brokeredPlaces, brokeredVariables } from './brokered-credentials.js';
import type { GitRelays } from './git-relays.js';
import { brokeredFor, isBrokeredOnly, noteUse, type SealedSecret, secretsFor } from './granted-secrets.queries.js';

/** Of two secrets for the same thing the later in this list is given. */
const PRECEDENCE: readonly SecretScope[] = ['org', 'environment', 'repository', 'person', 'conversation'];
/** What one sandbox is given together: an environment must leave room for the arguments of commands. Bytes of UTF-8. */
const MAX_TOGETHER = 1024 * 1024;
/** Hosts take any name beside a token. */
const ANY_USER = 'x-access-token';

/** Metadata of a secret for the agent. */
export interface GrantedVariable {
  readonly name: string;
  readonly description: string;
}

/** What a sandbox has of secrets and credentials, in words for its agent and its log. */
export interface HandedOver {
  readonly variables: readonly GrantedVariable[];
  /** Hosts at which credential-broker puts the credential in, a line each. */
  readonly places: readonly string[];
  /** Secrets that it would have without the setting `secretsInSandbox: brokered-only`. */
  readonly withheld: number;
}

interface Granted {
  readonly secrets: readonly SealedSecret[];
  readonly credentials: readonly BrokeredCredential[];
  readonly withheld: number;
}

/**
 * Which secrets a conversation gets, and handing them over. A value is in memory here for as long as one call takes,
 * and in no log, event or checkpoint.
 */
export class GrantedSecrets {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly relays: GitRelays,
  ) {}

  /**
   * Hands the sandbox everything that its conversation may have now, in place of what it had; use is in the audit.
   * Repeatable. Fails closed: a start that cannot have its secrets does not go on without them. Values of brokered
   * credentials are not among them, and with `secretsInSandbox: brokered-only` no value is.
   * @throws SlipwayError `secret.unreadable`, `secret.too-large`, `sandbox.unreachable`.
   */
  async handOver(row: ConversationRow, agent: AgentClient, signal: AbortSignal): Promise<HandedOver> {
    const { secrets: granted, credentials, withheld } = await this.granted(row);
    const brokered = brokeredVariables(credentials, row.id);
    const relays = await this.relays.of(
      row,
      granted.flatMap(({ kind, host }) => (kind === 'git' && host !== null ? [host] : [])),
    );
    const places = brokeredPlaces(credentials);
    // The first sandbox of a conversation has none to take away.
    if (granted.length === 0 && relays.length === 0 && brokered.size === 0 && row.epoch === 1)
      return { variables: [], places, withheld };
    const { variables, ...rest } = await this.opened(row.orgId, granted);
    for (const [name, { value }] of brokered) variables[name] = value;
    const secrets = { variables, ...rest, ...(relays.length === 0 ? {} : { relays }) };
    // Before they go out: no use without its entry.
    if (granted.length > 0)
      await inOrg(this.pool, row.orgId, (client) =>
        noteUse(client, row.orgId, row.id, { epoch: row.epoch, secrets: granted }),
      );
    await agent.call('setSecrets', { body: secrets }, { signal }).catch((error: unknown) => {
      // A sandbox of an older image knows no secrets: then it has none to take away either.
      if (!isMissing(error)) throw error;
      if (granted.length > 0 || brokered.size > 0)
        throw new SlipwayError(
          'sandbox.start-failed',
          'The image of the sandbox is too old to be given secrets. An operator updates it.',
          { cause: error },
        );
    });
    const named = granted.filter(({ kind }) => kind === 'variable');
    return {
      variables: [
        ...named.map(({ name, description }) => ({ name, description })),
        ...[...brokered].map(([name, { description }]) => ({ name, description })),
      ],
      places,
      withheld,
    };
  }

  /** A secret of a brokered credential's name is not given: whoever brokers a value keeps it out of sandboxes. */
  private async granted(row: ConversationRow): Promise<Granted> {
    const receiver = {
      orgId: row.orgId,
      conversationId: row.id,
      userId: row.createdBy,
      environment: row.environment,
      repository: row.repository === null ? null : repositoryKey(row.repository),
    };
    const { found, credentials, only } = await inOrg(this.pool, row.orgId, async (client) => ({
      found: await secretsFor(client, receiver),
      credentials: await brokeredFor(client, receiver),
      only: await isBrokeredOnly(client, row.orgId),
    }));
    const secrets = narrowest(found);
    if (only) return { secrets: [], credentials, withheld: secrets.length };
    const taken = brokeredVariables(credentials, row.id);
    return {
      secrets: secrets.filter(({ kind, name }) => kind !== 'variable' || !taken.has(name)),
      credentials,
      withheld: 0,
    };
  }

  private async opened(orgId: string, granted: readonly SealedSecret[]): Promise<SandboxSecrets> {
    const variables: SandboxSecrets['variables'] = {};
    const hosts: NonNullable<SandboxSecrets['hosts']> = {};
    const git: SandboxSecrets['git'] = [];
    let size = 0;
    for (const secret of granted) {
      const { name, kind, host, username, sealed, keyVersion } = secret;
      const value = await this.envelope
        .open(orgId, { bytes: sealed, keyVersion }, secretContext(secret))
        .catch((error: unknown) => {
          throw new SlipwayError('secret.unreadable', `The secret ${name} cannot be opened.`, { cause: error });
        });
      size += Buffer.byteLength(value);
      if (kind === 'variable') {
        variables[name] = value;
        if (host !== null) hosts[name] = host;
      } else if (host !== null) git.push({ name, host, username: username ?? ANY_USER, password: value });
    }
    if (size > MAX_TOGETHER)
      throw new SlipwayError(
        'secret.too-large',
        `They are ${size} bytes together; ${MAX_TOGETHER} can be given to one conversation.`,
      );
    return { variables, hosts, git };
  }
}

/** Of each variable and of each git host the one with the narrowest receiver. */
function narrowest(found: readonly SealedSecret[]): SealedSecret[] {
  const chosen = new Map<string, SealedSecret>();
  for (const scope of PRECEDENCE)
    for (const secret of found)
      if (secret.scope === scope)
        chosen.set(secret.kind === 'git' ? `git ${secret.host}` : `variable ${secret.name}`, secret);
  return [...chosen.values()];
}
