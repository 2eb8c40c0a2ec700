import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  type CheckpointObject,
  planRestore,
  type RestorePlan,
  readObjectStream,
  writeObjectStream,
  writePacks,
} from '@slipway/checkpoint';
import { CheckpointTrailer, type RestoredCheckpoint } from '@slipway/contracts/agent';
import type { ReadablePack, RestoreCheckpoint, TakeCheckpoints, TakenCheckpoints } from '@slipway/contracts/sandboxes';
import { notFound, SlipwayError } from '@slipway/errors';
import type { PackStore } from '@slipway/sandbox/packs';
import type { ActiveSandbox } from './active-sandbox.queries.js';
import { CheckedObjects } from './checked-objects.js';
import { OpenPacks } from './open-packs.js';
import type { SandboxCheckpoints } from './sandbox-checkpoints.js';

/** Longest transfer. Milliseconds. */
const TRANSFER_MS = 15 * 60_000;
/** Of one transfer. Bytes; a sandbox stages less than 1 GiB. */
const MAX_TAKEN_BYTES = 2 ** 31;

/**
 * Carries checkpoints between sandboxes and the store of packs. It alone can write to the store; keys are worker's, and
 * are here for one transfer.
 */
export class CheckpointsService {
  constructor(
    /** The sandbox that a session has now; `null`: it has none, or is not the organization's. */
    private readonly sandboxOf: (orgId: string, sessionId: string) => Promise<ActiveSandbox | null>,
    /** `null`: this installation keeps no checkpoints. */
    private readonly store: PackStore | null,
    private readonly sandboxes: SandboxCheckpoints,
  ) {}

  /**
   * Reads what a sandbox has captured since `have` into new packs. Nothing refers to them before the caller's commit:
   * of a transfer that fails the packs are garbage, and it may be repeated.
   * @throws SlipwayError `checkpoint.unknown` (the sandbox captures everything anew: try again), `checkpoint.broken`
   * for a sandbox that sends something else than it says, `sandbox.*`.
   */
  async take(
    orgId: string,
    { sessionId, conversation, have }: TakeCheckpoints,
    gone: AbortSignal,
  ): Promise<TakenCheckpoints> {
    const store = this.opened();
    const signal = AbortSignal.any([gone, AbortSignal.timeout(TRANSFER_MS)]);
    const sandbox = await this.active(orgId, sessionId);
    const source = await this.sandboxes.read(sandbox, conversation, have?.id ?? null, signal);
    try {
      const known = await OpenPacks.of(store, orgId, have?.packs ?? [], signal);
      const checked = new CheckedObjects((id) => known.has(id));
      const stream = readObjectStream(source, MAX_TAKEN_BYTES);
      const keys = new Map<string, string>();
      const written = await writePacks({
        objects: checked.of(stream.objects),
        nextPack: () => {
          const [packId, key] = [randomBytes(16).toString('hex'), randomBytes(32)];
          keys.set(packId, key.toString('base64'));
          return { orgId, packId, key };
        },
        store: async ({ packId }, body) => {
          await store.put({ orgId, packId }, Readable.from(body, { objectMode: false }), signal);
        },
        signal,
      });
      const said = CheckpointTrailer.safeParse(stream.trailer());
      if (!said.success)
        throw new SlipwayError('checkpoint.broken', 'The sandbox does not say what it has captured.', {
          cause: said.error,
        });
      const trailer = said.data;
      if (trailer.base !== null && trailer.base !== have?.id)
        throw new SlipwayError('checkpoint.broken', 'The files of the sandbox follow another checkpoint.');
      checked.assertWhole(trailer.captured.map(({ root }) => root));
      const packs = written.map(
        ({ packId, bytes }): ReadablePack => ({ id: packId, bytes, key: keys.get(packId) as string }),
      );
      return { ...trailer, packs };
    } finally {
      source.destroy();
    }
  }

  /**
   * Makes the files of a sandbox a checkpoint. @throws SlipwayError `checkpoint.broken` when it cannot be read: the
   * files are as they were, or between two states if the store broke off; `sandbox.*`.
   */
  async restore(
    orgId: string,
    { sessionId, conversation, checkpoint, current, packs }: RestoreCheckpoint,
    gone: AbortSignal,
  ): Promise<RestoredCheckpoint> {
    const store = this.opened();
    const signal = AbortSignal.any([gone, AbortSignal.timeout(TRANSFER_MS)]);
    const sandbox = await this.active(orgId, sessionId);
    const open = await OpenPacks.of(store, orgId, packs, signal);
    const plan = await planRestore({ root: checkpoint.root, current, load: (id) => open.read(id), signal });
    const objects = Readable.from(
      writeObjectStream(objectsOf(open, plan), () => null),
      { objectMode: false },
    );
    const query = { ...checkpoint, over: current === null ? 'blank' : 'covered', needs: plan.files } as const;
    return this.sandboxes.write(sandbox, conversation, { query, objects }, signal);
  }

  private opened(): PackStore {
    if (this.store !== null) return this.store;
    throw new SlipwayError('service.unavailable', 'This installation keeps no checkpoints.');
  }

  /** @throws SlipwayError `resource.not-found` */
  private async active(orgId: string, sessionId: string): Promise<ActiveSandbox> {
    const sandbox = await this.sandboxOf(orgId, sessionId);
    if (sandbox === null) throw notFound();
    return sandbox;
  }
}

/** What a restore needs: trees, parents first, then chunks as they lie in the packs. */
async function* objectsOf(packs: OpenPacks, { trees, chunks }: RestorePlan): AsyncGenerator<CheckpointObject> {
  for (const id of trees) yield { kind: 'tree', id, bytes: await packs.read(id) };
  yield* packs.chunks(chunks);
}
