import { Inject, Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import { type Changes, FileChange, GitChange, type Principal } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { readSandbox, readSnapshot, type SandboxRow } from './conversations.queries.js';
import { patchOfFile } from './patch-of-file.js';
import { SandboxClient } from './sandbox.client.js';

/** What a snapshot holds: the sandbox's own list, or the list as it is answered here. */
const StoredChanges = z.union([
  z.array(z.union([FileChange, GitChange])),
  z.object({ files: z.array(z.union([FileChange, GitChange])) }).transform(({ files }) => files),
]);

/** What the agent changed: from the sandbox while it answers, else as it was last seen. Nobody waits longer than five seconds for either. */
@Injectable()
export class WorkspaceService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly box: SecretBox,
  ) {}

  /** @throws SlipwayError `conversation.no-workspace` when nothing has been seen of it, `sandbox.unreachable` when it does not answer and nothing was, `file.too-large`. */
  async changes(caller: Principal, id: string): Promise<Changes> {
    const { row, answer } = await this.live(caller, id, (sandbox, directory, base) => sandbox.changes(directory, base));
    if (answer !== null) return { files: answer.map(toFileChange), base: row.baseCommit, live: true };
    const { changes } = await this.lastSeen(caller, id, row);
    return { files: StoredChanges.parse(changes).map(toFileChange), base: row.baseCommit, live: false };
  }

  /** For `git apply`. @throws as `changes` */
  async patch(caller: Principal, id: string, file: string | undefined): Promise<string> {
    const { row, answer } = await this.live(caller, id, (sandbox, directory, base) => sandbox.patch(directory, base, file));
    if (answer !== null) return answer;
    const { patch } = await this.lastSeen(caller, id, row);
    return file === undefined ? patch : patchOfFile(patch, file);
  }

  private async live<T>(
    caller: Principal,
    id: string,
    ask: (sandbox: SandboxClient, directory: string, base: string | null) => Promise<T>,
  ): Promise<{ row: SandboxRow; answer: T | null }> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    if (row.sandboxStatus !== 'RUNNING' || row.sandboxUrl === null || row.sandboxKey === null || row.workingDir === null) return { row, answer: null };
    try {
      const key = this.box.decrypt(row.sandboxKey, `sandbox-key:${id}`);
      return { row, answer: await ask(new SandboxClient({ url: row.sandboxUrl, sessionKey: key }, id), row.workingDir, row.baseCommit) };
    } catch (error) {
      if (error instanceof SlipwayError && error.code === 'file.too-large') throw error;
      this.logger.warn({ err: error, conversation_id: id }, 'the sandbox did not show its workspace; what was last seen is shown');
      return { row, answer: null };
    }
  }

  private async lastSeen(caller: Principal, id: string, row: SandboxRow): Promise<{ changes: unknown; patch: string }> {
    const snapshot = await readSnapshot(this.pool, caller.orgId, id);
    if (snapshot !== null) return snapshot;
    if (row.sandboxStatus === 'RUNNING' && row.workingDir !== null)
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer, and nothing of its workspace was seen before.', { retryAfterSeconds: 3 });
    throw new SlipwayError('conversation.no-workspace', 'The sandbox has not started yet, so there is nothing to show.');
  }
}

function toFileChange(change: FileChange | GitChange): FileChange {
  return { path: change.path, status: change.status, additions: change.additions ?? 0, deletions: change.deletions ?? 0, binary: change.binary ?? false };
}
