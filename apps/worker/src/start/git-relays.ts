import type { GitTokens } from '@slipway/auth/git-token';
import type { SandboxSecrets } from '@slipway/contracts/agent';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { baseUrlOf } from '@slipway/integrations';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import { repositoryGrants } from './git-relays.queries.js';

/** As an ingest token. Seconds. */
const TOKEN_SECONDS = 30 * 86_400;

/**
 * The repositories that a conversation reads through connections of its organization: the sandbox gets an address of
 * ours and a token that reads them, and no credential of the host.
 */
export class GitRelays {
  /** @param ingestUrl app-server as sandboxes reach it. */
  constructor(
    private readonly pool: SqlPool,
    private readonly tokens: GitTokens,
    private readonly ingestUrl: string,
  ) {}

  /** @param hosts for which git was given a credential of its own: that one counts. */
  async of(
    { orgId, id, epoch }: Pick<ConversationRow, 'orgId' | 'id' | 'epoch'>,
    hosts: readonly string[],
  ): Promise<NonNullable<SandboxSecrets['relays']>> {
    const grants = await inOrg(this.pool, orgId, (client) => repositoryGrants(client, orgId, id));
    const wanted = grants.filter(({ host }) => !hosts.includes(host));
    if (wanted.length === 0) return [];
    const token = await this.tokens.sign({ org: orgId, conversation: id, epoch }, TOKEN_SECONDS);
    return wanted.map((grant) => ({
      repository: `${baseUrlOf(grant)}/${grant.fullName}`,
      through: `${this.ingestUrl}/ingest/v1/conversations/${id}/git/${grant.connectionId}/${grant.fullName.split('/').map(encodeURIComponent).join('/')}`,
      token,
    }));
  }
}
