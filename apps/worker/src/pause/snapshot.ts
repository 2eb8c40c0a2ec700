import type { AgentClient, CallArguments } from '@slipway/agent-client';
import type { GitChange } from '@slipway/contracts/agent';
import type { FileChange } from '@slipway/contracts/repositories';
import type { SqlPool } from '@slipway/db/sql';
import type { ReadSlot } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { AGENT_CALLS } from '../clients/agent-server.js';
import { SandboxReads } from '../clients/sandbox-reads.js';
import { saveSnapshot } from '../conversations/conversation.queries.js';

const NOT_KEPT =
  '# The changes are not kept: the storage of the organization is full. Resume the conversation to read them from its sandbox.\n';

/** Keeps what the workspace changed, so that it can be read while the sandbox is away. */
export class Snapshots {
  constructor(
    private readonly pool: SqlPool,
    private readonly logger: Logger,
    private readonly reads = new SandboxReads(),
  ) {}

  /**
   * @throws SlipwayError when the sandbox does not answer, and `service.unavailable` when too many are read; what was
   * stored before stays.
   */
  async take(
    orgId: string,
    id: string,
    {
      agent,
      workspace,
    }: { readonly agent: AgentClient; readonly workspace: { directory: string; base: string | null } },
    signal: AbortSignal,
  ): Promise<void> {
    await this.reads.inTurn(orgId, signal, async (slot) => {
      const query = { path: workspace.directory, base: workspace.base };
      const changes = await agent.call('changes', { query }, { ...AGENT_CALLS.changes, signal, slot });
      const patch = await this.patch(agent, query, signal, slot);
      if (
        await saveSnapshot(this.pool, orgId, id, {
          snapshot: { changes: changes.map(toFileChange), patch },
          storage: 'ending',
        })
      )
        return;
      this.logger.warn(
        { org_id: orgId, conversation_id: id, bytes: patch.length },
        'storage of the organization is full, changes not stored',
      );
      await saveSnapshot(this.pool, orgId, id, { snapshot: { changes: [], patch: NOT_KEPT }, storage: 'platform' });
    });
  }

  private async patch(
    agent: AgentClient,
    query: CallArguments<'patch'>['query'],
    signal: AbortSignal,
    slot: ReadSlot,
  ): Promise<string> {
    try {
      return await agent.text('patch', { query }, { ...AGENT_CALLS.patch, signal, slot });
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'file.too-large') throw error;
    }
    this.logger.warn({ limit: AGENT_CALLS.patch.maxBytes }, 'changes too large to store as a patch');
    return '# The changes are larger than 8 MiB. Resume the conversation to read them from its sandbox.\n';
  }
}

function toFileChange(change: GitChange): FileChange {
  return {
    path: change.path,
    status: change.status,
    additions: change.additions ?? 0,
    deletions: change.deletions ?? 0,
    binary: change.binary ?? false,
  };
}
