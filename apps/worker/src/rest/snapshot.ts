import type { FileChange, GitChange } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { saveSnapshot } from '../conversations/conversation.queries.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';

/** Largest patch that is kept. Characters. */
const MAX_PATCH = 20 * 1024 * 1024;

/** Keeps what the workspace changed, so that it can be read while the sandbox is away. */
export class Snapshots {
  constructor(
    private readonly pool: SqlPool,
    private readonly logger: Logger,
  ) {}

  /** @throws SlipwayError when the sandbox does not answer; what was kept before stays. */
  async take(orgId: string, id: string, agent: AgentServerClient, workspace: { directory: string; base: string | null }, signal: AbortSignal): Promise<void> {
    const [changes, patch] = await Promise.all([agent.changes(workspace.directory, workspace.base, signal), this.patch(agent, workspace, signal)]);
    await saveSnapshot(this.pool, orgId, id, { changes: changes.map(toFileChange), patch });
  }

  private async patch(agent: AgentServerClient, { directory, base }: { directory: string; base: string | null }, signal: AbortSignal): Promise<string> {
    try {
      const patch = await agent.patch(directory, base, signal);
      if (patch.length <= MAX_PATCH) return patch;
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'request.too-large') throw error;
    }
    this.logger.warn({ limit: MAX_PATCH }, 'the changes are too large to keep as a patch');
    return '# The changes are larger than 20 MB. Resume the conversation to read them from its sandbox.\n';
  }
}

function toFileChange(change: GitChange): FileChange {
  return { path: change.path, status: change.status, additions: change.additions ?? 0, deletions: change.deletions ?? 0, binary: change.binary ?? false };
}
