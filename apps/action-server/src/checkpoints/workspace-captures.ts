import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  applyTree,
  type Captured,
  capture,
  DEFAULT_RULES,
  indexRoot,
  type Listed,
  type NamedRoot,
  readObjectStream,
  UNBOUNDED,
  writeObjectStream,
} from '@slipway/checkpoint';
import {
  type CaptureTrailer,
  CHECKPOINT_CONTENT_TYPE,
  type CheckpointPaths,
  NAMED_PATHS,
  type RestoredCheckpoint,
} from '@slipway/contracts/agent';
import { ObjectQueue } from './object-queue.js';

/** Files read in one capture that something waits for. */
const MAX_READ = 50_000;
/** Of one transfer into the sandbox. Bytes. */
const MAX_STREAM_BYTES = 2 ** 40;
/** Longest path that is named. Characters. */
const MAX_PATH = 300;

export interface CaptureOptions {
  readonly workspace: string;
  /** The agent's home, where it has one. */
  readonly home: string | undefined;
  /** Own folder; nothing in it is captured. */
  readonly directory: string;
}

export interface WantedCapture {
  readonly chain: string;
  readonly after: string | null;
  readonly room: number;
  readonly within: number | null;
}

export interface WantedRestore {
  readonly chain: string;
  readonly root: string;
  readonly over: 'blank' | 'covered';
  /** Bytes beyond what is there. */
  readonly needs: number;
}

/**
 * Captures of the workspace and of the agent's home, and checkpoints put into them. Each chain (a conversation) has an
 * index of what its last capture held; without it, or with that of another capture, everything is captured.
 */
export class WorkspaceCaptures {
  private readonly roots: readonly NamedRoot[];
  /** Captures that are sent and not yet settled. */
  private readonly pending = new Map<string, Captured>();

  constructor(private readonly options: CaptureOptions) {
    const { workspace, home } = options;
    this.roots = [
      { name: 'project', directory: workspace },
      ...(home === undefined ? [] : [{ name: 'home' as const, directory: home }]),
    ];
  }

  /**
   * Sends the objects that the last capture did not have, and a `CaptureTrailer`. Once it has begun, a failure breaks
   * the answer off. @throws SlipwayError `checkpoint.*`.
   */
  async send(wanted: WantedCapture, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { chain, after, room, within } = wanted;
    await mkdir(this.options.directory, { recursive: true });
    this.pending.get(chain)?.discard();
    this.pending.delete(chain);
    const follows = after !== null && indexRoot(this.indexOf(chain)) === after ? after : null;
    if (follows === null) await rm(this.indexOf(chain), { force: true });
    const queue = new ObjectQueue();
    const work = capture({
      roots: this.roots,
      indexFile: this.indexOf(chain),
      meta: {},
      rules: DEFAULT_RULES,
      sink: queue,
      budgets:
        within === null
          ? { ...UNBOUNDED, newBytes: room }
          : { milliseconds: within, newBytes: room, newEntries: MAX_READ },
      heavy: within === null ? 'capture' : 'reference',
      dirty: null,
      seed: new Uint8Array(),
      clock: Date.now,
      signal,
    });
    work.then(
      () => queue.end(),
      (error: unknown) => queue.end(error),
    );
    let captured: Captured | undefined;
    async function* objects() {
      yield* queue;
      captured = await work;
    }
    response.writeHead(200, { 'content-type': CHECKPOINT_CONTENT_TYPE });
    const stream = writeObjectStream(objects(), () => trailerOf(captured as Captured, follows));
    await pipeline(Readable.from(stream, { objectMode: false }), response);
    if (captured !== undefined) this.pending.set(chain, captured);
  }

  /** The capture that was sent last is kept by who asked for it, or is not. One that is not known is none. */
  settle(chain: string, kept: boolean): void {
    const captured = this.pending.get(chain);
    this.pending.delete(chain);
    if (kept) captured?.commit();
    else captured?.discard();
  }

  /**
   * Makes the files what the stream's checkpoint is. @throws SlipwayError `checkpoint.broken`, `sandbox.disk-full`: the
   * files are between two states then, and the same request goes on.
   */
  async take(
    { chain, root, over, needs }: WantedRestore,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<RestoredCheckpoint> {
    const scratch = path.join(this.options.directory, `${chain}.restore`);
    await mkdir(scratch, { recursive: true });
    this.pending.get(chain)?.discard();
    this.pending.delete(chain);
    const source = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    const indexFile = this.indexOf(chain);
    const { objects } = readObjectStream(source, MAX_STREAM_BYTES);
    try {
      const applied = await applyTree({ roots: this.roots, root, objects, indexFile, over, needs, scratch, signal });
      const { exact, written, deleted, kept } = applied;
      return { exact, written, deleted, kept: pathsOf(kept) };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  private indexOf(chain: string): string {
    return path.join(this.options.directory, `${chain}.index`);
  }
}

function trailerOf(captured: Captured, follows: string | null): CaptureTrailer {
  const { root, contentHash, files, logicalBytes, newBytes, complete, deferred, skipped, torn } = captured;
  return {
    follows,
    root,
    contentHash,
    files,
    bytes: logicalBytes,
    newBytes,
    complete,
    deferred: pathsOf(deferred),
    skipped: pathsOf(skipped),
    torn: pathsOf(torn),
  };
}

function pathsOf({ count, named }: Listed<string>): CheckpointPaths {
  return {
    count,
    named: named.slice(0, NAMED_PATHS).map(({ path: where, reason }) => ({ path: where.slice(0, MAX_PATH), reason })),
  };
}
