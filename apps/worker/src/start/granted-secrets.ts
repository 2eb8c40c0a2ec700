import { type AgentClient, isMissing } from '@slipway/agent-client';
import { Envelope, secretContext } from '@slipway/auth/envelope';
import { type SandboxSecrets } from '@slipway/contracts/agent';
import { repositoryKey, type SecretScope } from '@slipway/contracts/secrets';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { GitRelays } from './git-relays.js';
import { noteUse, type SealedSecret, secretsFor } from './granted-secrets.queries.js';

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
   * Repeatable. Fails closed: a start that cannot have its secrets does not go on without them.
   * @throws SlipwayError `secret.unreadable`, `secret.too-large`, `sandbox.unreachable`.
   */
  async handOver(row: ConversationRow, agent: AgentClient, signal: AbortSignal): Promise<GrantedVariable[]> {
    const found = await inOrg(this.pool, row.orgId, (client) =>
      secretsFor(client, {
        orgId: row.orgId,
        conversationId: row.id,
        userId: row.createdBy,
        environment: row.environment,
        repository: row.repository === null ? null : repositoryKey(row.repository),
      }),
    );
    const granted = narrowest(found);
    const relays = await this.relays.of(
      row,
      granted.flatMap(({ kind, host }) => (kind === 'git' && host !== null ? [host] : [])),
    );
    // The first sandbox of a conversation has none to take away.
    if (granted.length === 0 && relays.length === 0 && row.epoch === 1) return [];
    const secrets = { ...(await this.opened(row.orgId, granted)), ...(relays.length === 0 ? {} : { relays }) };
    // Before they go out: no use without its entry.
    if (granted.length > 0)
      await inOrg(this.pool, row.orgId, (client) =>
        noteUse(client, row.orgId, row.id, { epoch: row.epoch, secrets: granted }),
      );
    await agent.call('setSecrets', { body: secrets }, { signal }).catch((error: unknown) => {
      // A sandbox of an older image knows no secrets: then it has none to take away either.
      if (!isMissing(error)) throw error;
      if (granted.length > 0)
        throw new SlipwayError(
          'sandbox.start-failed',
          'The image of the sandbox is too old to be given secrets. An operator updates it.',
          { cause: error },
        );
    });
    return granted.filter(({ kind }) => kind === 'variable').map(({ name, description }) => ({ name, description }));
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
