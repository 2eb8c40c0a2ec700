import path from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import {
  type Changes,
  type ChangesQuery,
  type DiffQuery,
  FileChange,
  GitChange,
  type OpenEditor,
  type Principal,
  SANDBOX_PORTS,
  type WorkspaceCommits,
  type WorkspaceCommitsQuery,
  type WorkspaceRepositories,
} from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { readSandbox, readSnapshot, type SandboxRow } from './conversations.queries.js';
import { patchOfFile } from './patch-of-file.js';
import { SandboxClient, type WorkspaceSide } from './sandbox.client.js';

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

  /**
   * Against where the work began there is what was last seen, when the sandbox is away; of all else only a sandbox knows.
   * @throws SlipwayError `conversation.no-workspace` when nothing has been seen of it, `sandbox.unreachable` when it does not answer and nothing was,
   * `changes.not-kept`, `changes.turn-unknown`, `changes.commit-unknown`, `repository.not-found`, `file.too-large`.
   */
  async changes(caller: Principal, id: string, query: ChangesQuery): Promise<Changes> {
    const { row, answer } = await this.live(caller, id, (sandbox, row) => sandbox.changes(sideOf(row, id, query)), isKept(query));
    if (answer !== null) return { files: answer.map(toFileChange), base: isOwn(row, query.repository) ? row.baseCommit : null, live: true };
    const { changes } = await this.lastSeen(caller, id, row);
    return { files: StoredChanges.parse(changes).map(toFileChange), base: row.baseCommit, live: false };
  }

  /** For `git apply`. @throws as `changes` */
  async patch(caller: Principal, id: string, query: DiffQuery): Promise<string> {
    const file = query.path;
    const { row, answer } = await this.live(caller, id, (sandbox, row) => sandbox.patch(sideOf(row, id, query), file), isKept(query));
    if (answer !== null) return answer;
    const { patch } = await this.lastSeen(caller, id, row);
    return file === undefined ? patch : patchOfFile(patch, file);
  }

  /** None, and not `live`, while the sandbox is away: each look at a conversation asks for them. */
  async repositories(caller: Principal, id: string): Promise<WorkspaceRepositories> {
    const { row, answer } = await this.live(caller, id, (sandbox) => sandbox.repositories(), true);
    const data = (answer?.repositories ?? []).map((repository) => ({ ...repository, own: isOwn(row, repository.path) }));
    return { data: data.sort((a, b) => Number(b.own) - Number(a.own)), cut: answer?.cut ?? false, live: answer !== null };
  }

  /** @throws SlipwayError `conversation.no-workspace`, `changes.not-kept`, `sandbox.unreachable`, `repository.not-found`. */
  async commits(caller: Principal, id: string, { repository, cursor, limit }: WorkspaceCommitsQuery): Promise<WorkspaceCommits> {
    const { answer } = await this.live(
      caller,
      id,
      (sandbox, row) => sandbox.commits(sideOf(row, id, { against: 'base', repository }), { cursor, limit }),
      false,
    );
    const data = (answer?.commits ?? []).map(({ sha, subject, author, timestamp, files, since_base }) => ({
      hash: sha,
      subject,
      author,
      at: timestamp,
      files,
      ofThisWork: since_base,
    }));
    return { data, page: { nextCursor: answer?.next_page_id ?? null } };
  }

  /** VS Code in the sandbox, started if it is there. @throws SlipwayError `conversation.no-workspace`, `sandbox.not-running`, `sandbox.unreachable`. */
  async editor(caller: Principal, id: string): Promise<OpenEditor> {
    const { answer } = await this.live(caller, id, (sandbox, { workingDir }) => sandbox.editor(workingDir), false, 'sandbox.not-running');
    return { path: answer?.path ?? null, port: SANDBOX_PORTS.vscode, reason: answer?.reason ?? null };
  }

  /** @param kept whether what was last seen may stand in; then `answer` is `null`, else the failure is thrown. */
  private async live<T>(
    caller: Principal,
    id: string,
    ask: (sandbox: SandboxClient, row: SandboxRow & { workingDir: string }) => Promise<T>,
    kept: boolean,
    away: 'changes.not-kept' | 'sandbox.not-running' = 'changes.not-kept',
  ): Promise<{ row: SandboxRow; answer: T | null }> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    const { workingDir } = row;
    if (row.sandboxStatus !== 'RUNNING' || row.sandboxUrl === null || row.sandboxKey === null || workingDir === null) {
      if (kept) return { row, answer: null };
      if (workingDir === null) throw noWorkspace();
      const why = away === 'changes.not-kept' ? 'only it knows more than what changed since the work began' : 'resume the conversation first';
      throw new SlipwayError(away, `The sandbox is away; ${why}.`);
    }
    try {
      const key = this.box.decrypt(row.sandboxKey, `sandbox-key:${id}`);
      return { row, answer: await ask(new SandboxClient({ url: row.sandboxUrl, sessionKey: key }, id), { ...row, workingDir }) };
    } catch (error) {
      if (!kept || (error instanceof SlipwayError && error.code === 'file.too-large')) throw error;
      this.logger.warn({ err: error, conversation_id: id }, 'the sandbox did not show its workspace; what is kept of it is shown');
      return { row, answer: null };
    }
  }

  private async lastSeen(caller: Principal, id: string, row: SandboxRow): Promise<{ changes: unknown; patch: string }> {
    const snapshot = await readSnapshot(this.pool, caller.orgId, id);
    if (snapshot !== null) return snapshot;
    if (row.sandboxStatus === 'RUNNING' && row.workingDir !== null)
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer, and nothing of its workspace was seen before.', { retryAfterSeconds: 3 });
    throw noWorkspace();
  }
}

function toFileChange(change: FileChange | GitChange): FileChange {
  return { path: change.path, status: change.status, additions: change.additions ?? 0, deletions: change.deletions ?? 0, binary: change.binary ?? false };
}

function noWorkspace(): SlipwayError {
  return new SlipwayError('conversation.no-workspace', 'The sandbox has not started yet, so there is nothing to show.');
}

/** The repository that the conversation began with lies directly below the workspace. */
function isOwn({ workingDir }: SandboxRow, repository: string | undefined): boolean {
  return workingDir !== null && (repository === undefined || repository === path.posix.basename(workingDir));
}

function isKept({ against, repository }: ChangesQuery): boolean {
  return against === 'base' && repository === undefined;
}

function sideOf(row: SandboxRow & { workingDir: string }, id: string, { against, repository }: ChangesQuery): WorkspaceSide {
  const directory = repository === undefined || isOwn(row, repository) ? row.workingDir : repository;
  const nothing = { directory, base: null, turn: null, commit: null };
  if (against === 'turn') return { ...nothing, turn: id };
  if (against !== 'base') return { ...nothing, commit: against };
  return { ...nothing, base: isOwn(row, repository) ? row.baseCommit : null };
}
