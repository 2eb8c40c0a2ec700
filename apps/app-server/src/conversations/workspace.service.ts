import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { AgentClient } from '@slipway/agent-client';
import { SecretBox } from '@slipway/auth';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type Changes,
  type ChangesQuery,
  type DiffQuery,
  type ListChangesQuery,
  MAX_LISTED_FILES,
  type MarkLooked,
  type WorkspaceCommits,
  type WorkspaceCommitsQuery,
  type WorkspaceRepositories,
} from '@slipway/contracts/repositories';
import { type OpenEditor, SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import type { SqlPool } from '@slipway/db/sql';
import type { ReadSlot } from '@slipway/domain';
import { seenHash } from '@slipway/domain/review';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { isKept, isOwn, lookOf, sideOf } from './changes/compared-side.js';
import { type Listed, listedChanges } from './changes/listed-changes.js';
import { readKeptChanges, readKeptPatch, readSandbox, type SandboxRow, sizeOfKept } from './conversations.queries.js';
import { patchOfFile } from './patch-of-file.js';
import { agentAt } from './reach-sandbox.js';
import { LIST_READ, MAX_LIST_BYTES, PATCH_READ, SandboxReads } from './sandbox-reads.js';

/** What is held of a kept patch on its way out: the row, its text, and the bytes that are written. */
const COPIES = 3;
/** 100,000 files take about one second. Milliseconds. */
const LOOK_TIMEOUT_MS = 15_000;
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
  changes(caller: Principal, id: string, query: ListChangesQuery): Promise<Buffer> {
    const { orgId } = caller;
    const folder = query.folder ?? '';
    const marks = { turn: id, look: lookOf(id, caller.actor.id) };
    const whose = query.against === 'looked' ? marks.look : null;
    return this.reads.once(JSON.stringify([orgId, id, query.against, query.repository, whose, folder]), () =>
      this.reads.list(orgId, async (slot) => {
        const ask = async (agent: AgentClient, row: ReadyRow): Promise<Listed> => {
          const wanted = { ...sideOf(row, marks, query), folder: query.folder, at_most: MAX_LISTED_FILES };
          const text = await agent.text('changes', { query: wanted }, { ...LIST_READ, slot }).catch(sayWhose(query));
          try {
            return await listedChanges(text, folder);
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
        const kept = await listedChanges(await this.keptChanges(caller, id, row), folder);
        return changesJson(kept, row.baseCommit, false);
      }),
    );
  }

  /** For `git apply`: passed on as it comes. @throws as `changes` */
  async patch(caller: Principal, id: string, query: DiffQuery): Promise<Readable> {
    const slot = await this.reads.stream(caller.orgId);
    try {
      const file = query.path;
      const marks = { turn: id, look: lookOf(id, caller.actor.id) };
      const ask = (agent: AgentClient, row: ReadyRow): Promise<Readable> =>
        agent
          .stream(
            'patch',
            { query: { ...sideOf(row, marks, query), max_bytes: PATCH_READ.maxBytes, file } },
            PATCH_READ,
          )
          .catch(sayWhose(query));
      const { row, answer } = await this.live(caller, id, ask, { kept: isKept(query) });
      const patch = answer ?? (await this.keptPatch(caller, id, row, { file, slot }));
      patch.once('close', slot.leave);
      return patch;
    } catch (error) {
      slot.leave();
      throw error;
    }
  }

  /**
   * Has the sandbox remember what there is as what the caller has looked at. @param seen `seenHash` of the files that
   * the caller saw against the base; where there are others by now, nothing is remembered.
   * @throws SlipwayError `changes.moved`, `changes.not-kept`, `conversation.no-workspace`, `sandbox.unreachable`.
   */
  async markLooked(caller: Principal, id: string, { seen }: MarkLooked): Promise<void> {
    if (seen !== undefined) {
      const now = JSON.parse((await this.changes(caller, id, { against: 'base' })).toString()) as Changes;
      if (seenHash(now.files, now.folders) !== seen)
        throw new SlipwayError('changes.moved', 'The agent, or another user, has changed files since you looked.');
    }
    const turn = lookOf(id, caller.actor.id);
    await this.live(caller, id, (agent) => agent.call('markLook', { body: { turn } }, { timeoutMs: LOOK_TIMEOUT_MS }), {
      kept: false,
    });
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
          {
            query: {
              ...sideOf(row, { turn: id, look: '' }, { against: 'base', repository }),
              limit,
              page_id: cursor,
            },
          },
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

  /** Text of the list as it was last seen. */
  private async keptChanges(caller: Principal, id: string, row: SandboxRow): Promise<string> {
    const kept = await sizeOfKept(this.pool, caller.orgId, id);
    if (kept === null) throw notSeen(row);
    if (kept.changes > MAX_LIST_BYTES)
      throw new SlipwayError(
        'file.too-large',
        'The kept list of changes is too large to show. Resume the conversation.',
      );
    const text = await readKeptChanges(this.pool, caller.orgId, id);
    return text ?? '[]';
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

function changesJson({ files, folders, left }: Listed, base: string | null, live: boolean): Buffer {
  const rest = JSON.stringify({ folders, left, base, live });
  return Buffer.from(`{"files":${files},${rest.slice(1)}`);
}

/** A sandbox knows turns only; what a person looked at is remembered as one of those. */
function sayWhose({ against }: ChangesQuery): (error: unknown) => never {
  return (error) => {
    if (against !== 'looked' || !(error instanceof SlipwayError) || error.code !== 'changes.turn-unknown') throw error;
    throw new SlipwayError(
      'changes.look-unknown',
      'You have not said yet that you looked at them, or the sandbox does not remember it any more.',
    );
  };
}

function notSeen(row: SandboxRow): SlipwayError {
  if (row.sandboxStatus !== 'RUNNING' || row.workingDir === null) return noWorkspace();
  return new SlipwayError(
    'sandbox.unreachable',
    'The sandbox does not answer, and nothing of its workspace was seen before.',
    { retryAfterSeconds: 3 },
  );
}

function noWorkspace(): SlipwayError {
  return new SlipwayError('conversation.no-workspace', 'The sandbox has not started yet, so there is nothing to show.');
}

/** That of the editor on its own origin. @throws SlipwayError `sandbox.unreachable` for what is no address. */
function editorPath(address: string | null): string | null {
  if (address === null) return null;
  const url = URL.parse(address);
  if (url === null)
    throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its editor that cannot be read.');
  return `${url.pathname}${url.search}`;
}
