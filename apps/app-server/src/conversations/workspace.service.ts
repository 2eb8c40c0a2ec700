import path from 'node:path';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { AgentClient, CallArguments } from '@slipway/agent-client';
import { SecretBox } from '@slipway/auth';
import { GitChange } from '@slipway/contracts/agent';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type ChangesQuery,
  type DiffQuery,
  FileChange,
  type WorkspaceCommits,
  type WorkspaceCommitsQuery,
  type WorkspaceRepositories,
} from '@slipway/contracts/repositories';
import { type OpenEditor, SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import type { SqlPool } from '@slipway/db/sql';
import type { ReadSlot } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { readKeptChanges, readKeptPatch, readSandbox, type SandboxRow, sizeOfKept } from './conversations.queries.js';
import { patchOfFile } from './patch-of-file.js';
import { agentAt } from './reach-sandbox.js';
import { convertedList } from './sandbox-answers.js';
import { LIST_READ, MAX_LIST_BYTES, PATCH_READ, SandboxReads } from './sandbox-reads.js';

/** What is held of a kept patch on its way out: the row, its text, and the bytes that are written. */
const COPIES = 3;
/** Longest wait for VS Code to start. Milliseconds. */
const EDITOR_TIMEOUT_MS = 60_000;
/** Failures that say what is wrong with the question or with us: what was last seen is no answer to them. */
const NOT_AWAY: ReadonlySet<string> = new Set(['file.too-large', 'rate.limited', 'service.unavailable']);

interface LiveRead {
  readonly kept: boolean;
  readonly away?: 'changes.not-kept' | 'sandbox.not-running' | undefined;
}

export interface PatchRead {
  readonly file: string | undefined;
  readonly slot: ReadSlot;
}

type ReadyRow = SandboxRow & { workingDir: string };

/**
 * What the agent changed: from the sandbox while it answers, else the last snapshot. Bounded by five seconds for
 * either.
 */
@Injectable()
export class WorkspaceService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly box: SecretBox,
    private readonly reads: SandboxReads,
  ) {}

  /**
   * `Changes` as JSON, so that all who ask at once share one text. Against where the work began there is what was last
   * seen, when the sandbox is away; of all else only a sandbox knows.
   * @throws SlipwayError `conversation.no-workspace` when nothing has been seen of it, `sandbox.unreachable` when it
   * does not answer and nothing was, `changes.not-kept`, `changes.turn-unknown`, `changes.commit-unknown`,
   * `repository.not-found`, `file.too-large`, `rate.limited`, `service.unavailable`.
   */
  changes(caller: Principal, id: string, query: ChangesQuery): Promise<Buffer> {
    const { orgId } = caller;
    return this.reads.once(JSON.stringify([orgId, id, query.against, query.repository]), () =>
      this.reads.list(orgId, async (slot) => {
        const ask = async (agent: AgentClient, row: ReadyRow): Promise<string> => {
          const text = await agent.text('changes', { query: sideOf(row, id, query) }, { ...LIST_READ, slot });
          try {
            return await convertedList(text, GitChange, toFileChange);
          } catch (cause) {
            throw new SlipwayError(
              'sandbox.unreachable',
              'The sandbox gave an answer about its repositories that cannot be read.',
              { cause },
            );
          }
        };
        const { row, answer } = await this.live(caller, id, ask, { kept: isKept(query) });
        if (answer !== null) return changesJson(answer, isOwn(row, query.repository) ? row.baseCommit : null, true);
        return changesJson(await this.keptChanges(caller, id, row), row.baseCommit, false);
      }),
    );
  }

  /** For `git apply`: passed on as it comes. @throws as `changes` */
  async patch(caller: Principal, id: string, query: DiffQuery): Promise<Readable> {
    const slot = await this.reads.stream(caller.orgId);
    try {
      const file = query.path;
      const ask = (agent: AgentClient, row: ReadyRow): Promise<Readable> =>
        agent.stream(
          'patch',
          { query: { ...sideOf(row, id, query), max_bytes: PATCH_READ.maxBytes, file } },
          PATCH_READ,
        );
      const { row, answer } = await this.live(caller, id, ask, { kept: isKept(query) });
      const patch = answer ?? (await this.keptPatch(caller, id, row, { file, slot }));
      patch.once('close', slot.leave);
      return patch;
    } catch (error) {
      slot.leave();
      throw error;
    }
  }

  /** None, and not `live`, while the sandbox is away: each view of a conversation requests them. */
  async repositories(caller: Principal, id: string): Promise<WorkspaceRepositories> {
    const { row, answer } = await this.reads.list(caller.orgId, (slot) =>
      this.live(caller, id, (agent) => agent.call('repositories', { query: { path: '.' } }, { ...LIST_READ, slot }), {
        kept: true,
      }),
    );
    const data = (answer?.repositories ?? []).map((repository) => ({
      ...repository,
      own: isOwn(row, repository.path),
    }));
    return {
      data: data.sort((a, b) => Number(b.own) - Number(a.own)),
      cut: answer?.cut ?? false,
      live: answer !== null,
    };
  }

  /**
   * @throws SlipwayError `conversation.no-workspace`, `changes.not-kept`, `sandbox.unreachable`,
   * `repository.not-found`.
   */
  async commits(
    caller: Principal,
    id: string,
    { repository, cursor, limit }: WorkspaceCommitsQuery,
  ): Promise<WorkspaceCommits> {
    const { answer } = await this.reads.list(caller.orgId, (slot) => {
      const ask = (agent: AgentClient, row: ReadyRow) =>
        agent.call(
          'commits',
          { query: { ...sideOf(row, id, { against: 'base', repository }), limit, page_id: cursor } },
          { ...LIST_READ, slot },
        );
      return this.live(caller, id, ask, { kept: false });
    });
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

  /**
   * VS Code in the sandbox, started if it is there. @throws SlipwayError `conversation.no-workspace`,
   * `sandbox.not-running`, `sandbox.unreachable`.
   */
  async editor(caller: Principal, id: string): Promise<OpenEditor> {
    const ask = (agent: AgentClient, { workingDir }: ReadyRow) =>
      agent.call('editor', { query: { workspace_dir: workingDir } }, { timeoutMs: EDITOR_TIMEOUT_MS });
    const { answer } = await this.live(caller, id, ask, { kept: false, away: 'sandbox.not-running' });
    return { path: editorPath(answer?.url ?? null), port: SANDBOX_PORTS.vscode, reason: answer?.reason ?? null };
  }

  /** @param kept whether what was last seen may stand in; then `answer` is `null`, else the failure is thrown. */
  private async live<T>(
    caller: Principal,
    id: string,
    ask: (agent: AgentClient, row: ReadyRow) => Promise<T>,
    { kept, away = 'changes.not-kept' }: LiveRead,
  ): Promise<{ row: SandboxRow; answer: T | null }> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    const { workingDir } = row;
    if (row.sandboxStatus !== 'RUNNING' || row.sandboxUrl === null || row.sandboxKey === null || workingDir === null) {
      if (kept) return { row, answer: null };
      if (workingDir === null) throw noWorkspace();
      const why =
        away === 'changes.not-kept'
          ? 'only it knows more than what changed since the work began'
          : 'resume the conversation first';
      throw new SlipwayError(away, `The sandbox is away; ${why}.`);
    }
    try {
      const key = this.box.decrypt(row.sandboxKey, `sandbox-key:${id}`);
      return { row, answer: await ask(agentAt({ url: row.sandboxUrl, sessionKey: key }), { ...row, workingDir }) };
    } catch (error) {
      if (!kept || (error instanceof SlipwayError && NOT_AWAY.has(error.code))) throw error;
      this.logger.warn(
        { err: error, conversation_id: id },
        'sandbox did not answer for its workspace, the stored snapshot is served',
      );
      return { row, answer: null };
    }
  }

  /** JSON of the files as they were last seen. */
  private async keptChanges(caller: Principal, id: string, row: SandboxRow): Promise<string> {
    const kept = await sizeOfKept(this.pool, caller.orgId, id);
    if (kept === null) throw notSeen(row);
    if (kept.changes > MAX_LIST_BYTES)
      throw new SlipwayError(
        'file.too-large',
        'The kept list of changes is too large to show. Resume the conversation.',
      );
    const text = await readKeptChanges(this.pool, caller.orgId, id);
    return convertedList(text ?? '[]', KEPT_CHANGE, toFileChange);
  }

  private async keptPatch(
    caller: Principal,
    id: string,
    row: SandboxRow,
    { file, slot }: PatchRead,
  ): Promise<Readable> {
    const kept = await sizeOfKept(this.pool, caller.orgId, id);
    if (kept === null) throw notSeen(row);
    if (!slot.take(kept.patch * COPIES))
      throw new SlipwayError(
        'service.unavailable',
        'Kept changes on their way out take all the memory that they may.',
        { retryAfterSeconds: 2 },
      );
    const patch = (await readKeptPatch(this.pool, caller.orgId, id)) ?? '';
    return Readable.from([Buffer.from(file === undefined ? patch : patchOfFile(patch, file))], { objectMode: false });
  }
}

/** What is kept holds the sandbox's own items, or items as they are answered here. */
const KEPT_CHANGE = z.union([FileChange, GitChange]);

function changesJson(files: string, base: string | null, live: boolean): Buffer {
  return Buffer.from(`{"files":${files},"base":${JSON.stringify(base)},"live":${live}}`);
}

function notSeen(row: SandboxRow): SlipwayError {
  if (row.sandboxStatus !== 'RUNNING' || row.workingDir === null) return noWorkspace();
  return new SlipwayError(
    'sandbox.unreachable',
    'The sandbox does not answer, and nothing of its workspace was seen before.',
    { retryAfterSeconds: 3 },
  );
}

function toFileChange(change: FileChange | GitChange): FileChange {
  return {
    path: change.path,
    status: change.status,
    additions: change.additions ?? 0,
    deletions: change.deletions ?? 0,
    binary: change.binary ?? false,
    ...(change.hash === undefined ? {} : { hash: change.hash }),
  };
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

/** Files of a repository, and what they are compared with: where its branch began when nothing is named. */
function sideOf(row: ReadyRow, id: string, { against, repository }: ChangesQuery): CallArguments<'changes'>['query'] {
  const path = repository === undefined || isOwn(row, repository) ? row.workingDir : repository;
  if (against === 'turn') return { path, turn: id };
  if (against !== 'base') return { path, commit: against };
  return { path, base: isOwn(row, repository) ? row.baseCommit : null };
}

/** That of the editor on its own origin. @throws SlipwayError `sandbox.unreachable` for what is no address. */
function editorPath(address: string | null): string | null {
  if (address === null) return null;
  const url = URL.parse(address);
  if (url === null)
    throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its editor that cannot be read.');
  return `${url.pathname}${url.search}`;
}
