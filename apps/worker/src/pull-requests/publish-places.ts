import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Provider } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';
import { type ConversationRow, readConversation } from '../conversations/conversation.queries.js';
import type { ConnectionCalls } from '../integrations/connection-calls.js';
import type { StartSteps } from '../start/start-steps.js';
import type { ConnectedHost, PublishPlace } from './publisher.js';
import { findConnectionById } from './pull-requests.queries.js';

/** Finds where and as whom a pull request is worked on. */
export class PublishPlaces {
  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly steps: StartSteps,
  ) {}

  /** `null`: the conversation is gone. */
  conversationOf({ orgId, conversationId }: PullRequestRow): Promise<ConversationRow | null> {
    return readConversation(this.pool, orgId, conversationId);
  }

  /** `null`: the connection is gone. */
  async connectionOf({ orgId, connectionId }: PullRequestRow): Promise<StoredConnection | null> {
    return connectionId === null
      ? null
      : inOrg(this.pool, orgId, (client) => findConnectionById(client, orgId, connectionId));
  }

  /**
   * `null`: the connection has no access token, or its provider is no git host that is called. @throws ProviderRefusal
   * when its authorization is not renewed, or not now.
   */
  async open(
    { orgId, repository }: PullRequestRow,
    conversation: ConversationRow,
    connection: StoredConnection,
    signal: AbortSignal,
  ): Promise<PublishPlace | null> {
    const host = await this.hostOf(orgId, connection, repository, signal);
    return host === null ? null : { connection, host, conversation, agent: this.steps.agentOf(conversation), signal };
  }

  private async hostOf(
    orgId: string,
    connection: StoredConnection,
    repository: string,
    signal: AbortSignal,
  ): Promise<ConnectedHost | null> {
    const access = this.providers.get(connection.provider)?.codeHost;
    const opened =
      access === undefined ? null : await this.calls.open(orgId, connection, access, { repository, step: 'publish' });
    if (access === undefined || opened === null) return null;
    return { calls: access.calls(opened.client(signal)), access, token: opened.token, tokenId: opened.tokenId };
  }
}
