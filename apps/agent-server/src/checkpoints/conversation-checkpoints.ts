import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CheckpointObject, readObjectStream, writeObjectStream } from '@slipway/checkpoint';
import type {
  CapturedCheckpoint,
  CheckpointReason,
  CheckpointTrailer,
  RestoredCheckpoint,
  RestoreQuery,
} from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { captureTrailer, type WorkspaceCheckpoints } from '../sandbox/workspace-checkpoints.js';
import { CheckpointChain, type Staged } from './chain.js';

/** Work that tools wait for. Milliseconds. */
const WAITED_MS = 250;
/** Between two captures within one turn. Milliseconds. */
const STEP_EVERY_MS = 60_000;
/** A capture in the background ends by then. Milliseconds. */
const CAPTURE_MS = 10 * 60_000;
/** Most bytes of new objects of one capture; what is beyond is deferred to the next. */
const MAX_NEW_BYTES = 256 * 1024 * 1024;
/** With less than this nothing is captured until what is staged is durable. Bytes. */
const LEAST_ROOM = 1024 * 1024;
/** Of one transfer, heads of objects included: more than may be staged. Bytes. */
const MAX_STREAM_BYTES = 2 ** 33;
/** Most captures of one transfer. */
const MAX_SENT = 64;

/** What is captured, and who wants to know. */
export interface CheckpointSubject {
  /** Id of the newest event; `null`: the log is empty. */
  lastEvent(): string | null;
  captured(checkpoint: CapturedCheckpoint): Promise<void>;
}

/** The files of one conversation's sandbox, captured one after the other. */
export class ConversationCheckpoints {
  private chain: Promise<CheckpointChain> | undefined;
  /** Captures and restores, one at a time; never rejects. */
  private turn: Promise<unknown> = Promise.resolve();
  private subject: CheckpointSubject | null = null;
  /** When the last capture of a turn's end or of a step began. Milliseconds, by `performance.now`. */
  private lastAt = Number.NEGATIVE_INFINITY;
  /** Captures that are asked for and have not begun. */
  private readonly waiting = new Set<'waited' | 'background'>();

  constructor(
    private readonly id: string,
    private readonly directory: string,
    private readonly workspace: WorkspaceCheckpoints,
    /** Bytes on disk of what is not durable yet. */
    private readonly maxStagedBytes: number,
    private readonly logger: Logger,
  ) {}

  /** From now on captures are noted in the subject's log; `null`: nothing is captured. */
  follow(subject: CheckpointSubject | null, now = performance.now()): void {
    this.lastAt = now;
    this.subject = subject;
  }

  /**
   * Captures the files as they are; tools wait for it, for at most about 250 ms of work. Best effort: a capture that
   * fails is made up for by the next one.
   */
  capture(reason: CheckpointReason, now = performance.now()): void {
    if (this.subject === null) return;
    this.lastAt = now;
    void this.workspace.ahead(this.enqueue('waited', reason));
  }

  /** As `capture`, between two steps of a turn, once in a minute at most. */
  stepEnded(now = performance.now()): void {
    if (now - this.lastAt >= STEP_EVERY_MS) this.capture('step', now);
  }

  /** Whether the files of this sandbox come from this checkpoint, or have become it. */
  async knows(checkpoint: string): Promise<boolean> {
    return (await this.opened()).has(checkpoint);
  }

  /**
   * Staged captures as one stream, which ends with a `CheckpointTrailer`.
   * @param have the newest durable checkpoint: what is staged up to it is given up.
   * @throws SlipwayError `checkpoint.unknown` when these files do not follow it: all of them are captured anew.
   */
  async read(have: string | null): Promise<Readable> {
    const chain = await this.opened();
    if (have === null ? chain.base !== null : !(await chain.settle(have))) {
      await chain.restart(null);
      void this.enqueue('background', 'rest');
      throw new SlipwayError('checkpoint.unknown', 'The files of this sandbox do not follow that checkpoint.');
    }
    if (chain.staged.length === 0 && chain.last?.complete === false) void this.enqueue('background', 'rest');
    const staged = chain.staged.slice(0, MAX_SENT);
    const trailer: CheckpointTrailer = { base: chain.base, captured: staged.map(({ captured }) => captured) };
    // Open before anything else may give them up.
    const handles = await Promise.all(staged.map(({ captured }) => open(chain.fileOf(captured.id))));
    async function* objects(): AsyncGenerator<CheckpointObject> {
      try {
        for (const handle of handles)
          yield* readObjectStream(createReadStream('', { fd: handle, autoClose: false }), MAX_STREAM_BYTES).objects;
      } finally {
        await Promise.all(handles.map((handle) => handle.close()));
      }
    }
    return Readable.from(
      writeObjectStream(objects(), () => trailer),
      { objectMode: false },
    );
  }

  /**
   * Makes the files what a checkpoint is; what comes after follows it. Ends with an error half way at worst: the same
   * request again goes on. @throws as `WorkspaceCheckpoints.restore`.
   */
  async restore(query: RestoreQuery, objects: Readable, signal: AbortSignal): Promise<RestoredCheckpoint> {
    const work = this.turn.then(async () => {
      const restored = await this.workspace.restore(this.id, query, objects, signal);
      await (await this.opened()).restart({ id: query.id, root: query.root });
      return restored;
    });
    this.turn = work.catch(() => {});
    return this.workspace.ahead(work);
  }

  private enqueue(kind: 'waited' | 'background', reason: CheckpointReason): Promise<void> {
    // One that has not begun will find what there is now.
    if (this.waiting.has(kind)) return Promise.resolve();
    this.waiting.add(kind);
    const work = this.turn.then(async () => {
      this.waiting.delete(kind);
      const found = await this.take(reason, kind === 'waited' ? WAITED_MS : null);
      // Once for what was too much to wait for. What changes while it is read is in the next capture: a program that
      // always writes is not followed for ever.
      if (found?.complete === false && (kind === 'waited' || isOverBudget(found)))
        void this.enqueue('background', reason);
    });
    const settled = work.catch((error: unknown) =>
      this.logger.warn({ err: error, conversation_id: this.id, reason }, 'failed to capture the files'),
    );
    this.turn = settled;
    return settled;
  }

  /** @returns the checkpoint, where the files are other ones than before. */
  private async take(reason: CheckpointReason, within: number | null): Promise<CapturedCheckpoint | null> {
    const { subject } = this;
    const after = subject?.lastEvent() ?? null;
    if (subject === null || after === null) return null;
    const chain = await this.opened();
    const room = Math.min(MAX_NEW_BYTES, this.maxStagedBytes - chain.bytes);
    if (room < LEAST_ROOM) {
      this.logger.warn({ conversation_id: this.id, staged: chain.bytes }, 'no room to capture the files');
      return null;
    }
    const signal = AbortSignal.timeout(CAPTURE_MS);
    const id = randomUUID();
    const draft = await chain.draftOf(id);
    const last = chain.last?.root ?? null;
    let kept: Staged | null = null;
    try {
      const stream = await this.workspace.capture({ chain: this.id, after: last, room, within }, signal);
      const { objects, trailer } = readObjectStream(stream, MAX_STREAM_BYTES);
      await pipeline(
        writeObjectStream(objects, () => null),
        createWriteStream(draft, { flags: 'wx', mode: 0o600 }),
      );
      const { follows, ...found } = captureTrailer(trailer());
      if (follows !== null && follows !== last)
        throw new SlipwayError('checkpoint.broken', 'The capture follows another checkpoint than it was asked to.');
      if (found.root !== last) {
        const captured: CapturedCheckpoint = { id, reason, after, takenAt: new Date().toISOString(), ...found };
        kept = { captured, bytes: (await stat(draft)).size };
        await chain.add(captured, kept.bytes, follows !== null);
      }
      await this.workspace.settle(this.id, true, signal);
    } catch (error) {
      await this.workspace.settle(this.id, false, signal).catch(() => {});
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
    if (kept === null) return null;
    await subject.captured(kept.captured);
    return kept.captured;
  }

  private opened(): Promise<CheckpointChain> {
    this.chain ??= CheckpointChain.open(this.directory);
    return this.chain;
  }
}

/** More is left than one capture may bring. */
function isOverBudget({ deferred }: CapturedCheckpoint): boolean {
  return deferred.named.some(({ reason }) => reason === 'budget');
}
