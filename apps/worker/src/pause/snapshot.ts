import type { GitChange } from '@slipway/contracts/agent';
import type { FileChange } from '@slipway/contracts/repositories';
import type { SqlPool } from '@slipway/db/sql';
import type { ReadSlot } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { AgentServerClient } from '../clients/agent-server.client.js';
import { ANSWER_BYTES, SandboxReads } from '../clients/sandbox-reads.js';
import { saveSnapshot } from '../conversations/conversation.queries.js';

const NOT_KEPT = '# The changes are not kept: the storage of the organization is full. Resume the conversation to read them from its sandbox.\n';

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
    { agent, workspace }: { readonly agent: AgentServerClient; readonly workspace: { directory: string; base: string | null } },
    signal: AbortSignal,
  ): Promise<void> {
    await this.reads.inTurn(orgId, signal, async (room) => {
      const changes = await agent.changes(workspace.directory, workspace.base, signal, room);
      const patch = await this.patch(agent, workspace, signal, room);
      if (await saveSnapshot(this.pool, orgId, id, { snapshot: { changes: changes.map(toFileChange), patch }, storage: 'ending' })) return;
      this.logger.warn({ org_id: orgId, conversation_id: id, bytes: patch.length }, 'storage of the organization is full, changes not stored');
      await saveSnapshot(this.pool, orgId, id, { snapshot: { changes: [], patch: NOT_KEPT }, storage: 'platform' });
    });
  }

  private async patch(
    agent: AgentServerClient,
    { directory, base }: { directory: string; base: string | null },
    signal: AbortSignal,
    room: ReadSlot,
  ): Promise<string> {
    try {
      return await agent.patch(directory, base, signal, room);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'request.too-large') throw error;
    }
    this.logger.warn({ limit: ANSWER_BYTES.patch }, 'changes too large to store as a patch');
    return '# The changes are larger than 8 MiB. Resume the conversation to read them from its sandbox.\n';
  }
}

function toFileChange(change: GitChange): FileChange {
  return { path: change.path, status: change.status, additions: change.additions ?? 0, deletions: change.deletions ?? 0, binary: change.binary ?? false };
}
