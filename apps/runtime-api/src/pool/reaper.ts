import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ListedSandbox, readActivation } from '@slipway/sandbox';
import { activateClaim, releaseClaim } from '../sessions/sessions.queries.js';
import { inParallel } from './in-parallel.js';
import { doomSlot } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';
import {
  doomByName,
  failStranded,
  forgetOld,
  forgetWorkspaces,
  type HeldSlot,
  liveSlots,
  type OverdueClaim,
  overdueClaims,
  saveRestarts,
  slotsOf,
  unneededWorkspaces,
  withoutSlot,
} from './reaper.queries.js';
import { isOwned } from './unkept.queries.js';

/** How long the workspace of a stopped session stays, in case it is started again after all. Seconds. */
export const STOPPED_SECONDS = 3_600;
/** How long rows of what is over stay for whoever asks what happened. Seconds. */
const HISTORY_SECONDS = 7 * 86_400;
const RECEIPT_TIMEOUT_MS = 2_000;
/**
 * A claim whose sandbox does not give its receipt is kept so long beyond its deadline, unless the sandbox is known to
 * be over: its caller may have his answer. Seconds.
 */
const SILENT_SECONDS = 60;
/** Rows read at once, so that ten thousand are no pause for whoever claims meanwhile. */
const PAGE = 1_000;
/** Sandboxes asked for by name, or for their receipts, at the same time. */
const ASKED_AT_ONCE = 16;

type Sandboxes = ReadonlyMap<string, ListedSandbox>;

/**
 * Compares rows, sandboxes and the sandboxes' own receipts, and repairs what a crash has left: a claim whose sandbox
 * has ended is lost and its session gets the reason; a claim that was not activated by its deadline is ended, unless
 * the sandbox's receipt says that it was; a warm slot without a sandbox is doomed; a sandbox without a row is removed
 * when it is seen a second time; a workspace that nothing refers to is deleted.
 *
 * A list may be older than the rows: that a sandbox is missing counts only when the backend, asked by its name,
 * confirms it. Without an answer nothing is freed. Every change is conditional on the row being as it was read: a pass
 * may run beside claims, and beside another pass.
 */
export class Reaper {
  private suspects = new Map<string, string>();
  /** The list that is being read. */
  private listing: Promise<readonly ListedSandbox[]> | null = null;
  /** State of the last pass, by name: a difference is checked. */
  private seen: ReadonlyMap<
    string,
    { readonly uid: string; readonly restarts: number; readonly ended: boolean }
  > | null = null;

  constructor(private readonly context: PoolContext) {}

  /** Everything is compared with everything; a page at a time. @returns how many claims it ended. */
  async pass(signal: AbortSignal): Promise<number> {
    const missing = await this.compare(signal);
    const ended = (await this.endMissing(missing, signal)) + (await this.endOverdue(signal));
    await failStranded(this.context.db);
    return ended;
  }

  /**
   * Removes warm sandboxes from their pools that must not be handed out any more, as those of a cordoned node. Separate
   * from `look`, whose requests may be slow.
   */
  async avoid(signal: AbortSignal): Promise<number> {
    const { db, logger } = this.context;
    const avoided = new Map<string, string>();
    for (const { name, observation } of await this.listed(signal))
      if (observation.state === 'running' && observation.avoid !== undefined) avoided.set(name, observation.avoid);
    const doomed = avoided.size === 0 ? 0 : await doomByName(db, avoided);
    if (doomed > 0)
      logger.info(
        { sandboxes: doomed, reason: avoided.values().next().value },
        'warm sandboxes removed from their pools',
      );
    return doomed;
  }

  /**
   * Handles changes since the last pass, for each hint of a change: ended and vanished sandboxes, restarts. Reads only
   * the rows that these concern.
   */
  async look(signal: AbortSignal): Promise<number> {
    const listed = await this.listed(signal);
    const before = this.seen;
    const changed: string[] = [];
    const seen = new Map<string, { uid: string; restarts: number; ended: boolean }>();
    for (const { name, uid, observation } of listed) {
      const restarts = observation.state === 'running' ? observation.restarts.count : 0;
      const ended = observation.state === 'ended';
      const last = before?.get(name);
      if (ended ? last?.ended !== true : restarts > (last?.restarts ?? 0)) changed.push(name);
      seen.set(name, { uid, restarts, ended });
    }
    for (const name of before?.keys() ?? []) if (!seen.has(name)) changed.push(name);
    await this.removeOrphans(listed, signal);
    const ended = changed.length === 0 ? 0 : await this.endMissing(await this.check(changed, byName(listed)), signal);
    // Last, so that what failed in between is checked again.
    this.seen = seen;
    return ended + (await this.endOverdue(signal));
  }

  /** One list for passes that begin together. */
  private listed(signal: AbortSignal): Promise<readonly ListedSandbox[]> {
    if (this.listing !== null) return this.listing;
    const listing = this.context.backend.list(signal).finally(() => {
      if (this.listing === listing) this.listing = null;
    });
    this.listing = listing;
    return listing;
  }

  /** For once in a while. */
  async forget(): Promise<void> {
    await forgetOld(this.context.db, HISTORY_SECONDS);
  }

  /** Deletes workspaces that nothing refers to. */
  async deleteWorkspaces(signal: AbortSignal): Promise<void> {
    const { db, backend } = this.context;
    const workspaces = await backend.listWorkspaces(signal);
    await forgetWorkspaces(db, STOPPED_SECONDS);
    for (let from = 0; from < workspaces.length; from += PAGE)
      for (const workspace of await unneededWorkspaces(db, workspaces.slice(from, from + PAGE)))
        await backend.deleteWorkspace(workspace, signal);
  }

  /** @returns names whose sandbox does not seem to be what their slot says. */
  private async compare(signal: AbortSignal): Promise<HeldSlot[]> {
    const { db, backend } = this.context;
    // Rows first: what they name was made before, so it is in the list unless it has gone.
    const rows: Array<{ name: string; uid: string }> = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<typeof liveSlots>> = await liveSlots(db, after, PAGE);
      for (const { podName, podUid } of page) rows.push({ name: podName, uid: podUid });
      after = page.length < PAGE ? undefined : page.at(-1)?.slotId;
      await nextTurn();
    }
    const listed = await backend.list(signal);
    const sandboxes = byName(listed);
    const wrong = rows.filter(
      ({ name, uid }) => isOver(sandboxes.get(name), uid) || restartsOf(sandboxes.get(name)) > 0,
    );
    const known = new Set(rows.map((row) => row.name));
    await this.removeOrphans(
      listed.filter((sandbox) => !known.has(sandbox.name)),
      signal,
      listed,
    );
    return this.check(
      wrong.map((row) => row.name),
      sandboxes,
    );
  }

  /**
   * Reads the slots of these sandboxes, notes restarts. @returns the slots whose sandbox is over, as far as the list
   * knows.
   */
  private async check(names: readonly string[], sandboxes: Sandboxes): Promise<HeldSlot[]> {
    const over: HeldSlot[] = [];
    for (let from = 0; from < names.length; from += PAGE)
      for (const slot of await slotsOf(this.context.db, names.slice(from, from + PAGE))) {
        const observation = sandboxes.get(slot.podName)?.observation;
        if (isOver(sandboxes.get(slot.podName), slot.podUid)) over.push(slot);
        else if (
          observation?.state === 'running' &&
          slot.claim !== null &&
          observation.restarts.count > slot.claim.restartCount
        )
          await saveRestarts(this.context.db, slot.claim.claimId, observation.restarts);
      }
    return over;
  }

  private async endMissing(slots: readonly HeldSlot[], signal: AbortSignal): Promise<number> {
    const ended = await inParallel(slots, ASKED_AT_ONCE, (slot) => this.endIfOver(slot, signal));
    return ended.filter(Boolean).length;
  }

  private async endIfOver(slot: HeldSlot, signal: AbortSignal): Promise<boolean> {
    const { db, backend, logger, failpoints } = this.context;
    const now = await backend.observe(slot.podName, signal);
    if (now.state === 'pending' || (now.state === 'running' && now.uid === slot.podUid)) return false;
    const detail =
      now.state === 'ended' && now.uid === slot.podUid ? now.reason : 'the sandbox ended: it is no longer there';
    if (slot.claim === null) {
      await doomSlot(db, slot.slotId, detail, ['ready']);
      return false;
    }
    const { orgId, claimId } = slot.claim;
    const ended = await releaseClaim(db, orgId, claimId, {
      only: 'bound-or-active',
      end: 'lost',
      session: 'error',
      detail,
    });
    await failpoints('reap.released');
    if (ended) logger.warn({ claim_id: claimId, org_id: orgId, sandbox: slot.podName }, detail);
    return ended;
  }

  private async endOverdue(signal: AbortSignal): Promise<number> {
    const ended = await inParallel(await overdueClaims(this.context.db), ASKED_AT_ONCE, (claim) =>
      this.endUnlessActivated(claim, signal),
    );
    return ended.filter(Boolean).length;
  }

  private async endUnlessActivated(claim: OverdueClaim, signal: AbortSignal): Promise<boolean> {
    const { db, backend, failpoints } = this.context;
    // Its last address will do while the backend cannot say.
    const now = await backend.observe(claim.podName, signal).catch(() => null);
    const address = now?.state === 'running' ? now.address : claim.address;
    const receipt = await readActivation(address, signal, RECEIPT_TIMEOUT_MS);
    if (signal.aborted) return false;
    if (receipt?.claim_id === claim.claimId) {
      await activateClaim(db, claim.orgId, { claim, address, workingDir: receipt.working_dir });
      return false;
    }
    const isThere = now === null || now.state === 'pending' || (now.state === 'running' && now.uid === claim.podUid);
    if (receipt === null && isThere && claim.overdueSeconds < SILENT_SECONDS) return false;
    const detail = 'the sandbox was not activated in time';
    const ended = await releaseClaim(db, claim.orgId, claim.claimId, {
      only: 'bound',
      end: 'lost',
      session: 'error',
      detail,
    });
    await failpoints('reap.released');
    return ended;
  }

  /**
   * Removes those that had no row in an earlier pass either: a row is written before its sandbox, and outlives it.
   * @param unknown the sandboxes to ask the rows about. `listed`: all; a suspect that is not in it has gone by itself.
   */
  private async removeOrphans(unknown: readonly ListedSandbox[], signal: AbortSignal, listed = unknown): Promise<void> {
    const { db, backend, logger } = this.context;
    const full = listed !== unknown;
    const candidates = full ? unknown : listed.filter((sandbox) => this.suspects.has(sandbox.uid));
    const none =
      candidates.length === 0
        ? new Set<string>()
        : await withoutSlot(
            db,
            candidates.map((sandbox) => sandbox.name),
          );
    const orphans = candidates.filter((sandbox) => none.has(sandbox.name));
    const before = this.suspects;
    this.suspects = new Map(orphans.map((sandbox) => [sandbox.uid, sandbox.name]));
    for (const orphan of orphans) {
      if (!before.has(orphan.uid)) continue;
      try {
        await backend.remove(orphan.name, orphan.uid, signal, { owned: await isOwned(db, orphan.name) });
        logger.warn({ sandbox: orphan.name }, 'sandbox without a row removed');
      } catch (err) {
        if (signal.aborted) throw err;
        // One that cannot be asked for its workspace keeps nobody else's from being repaired.
        logger.error({ err, sandbox: orphan.name }, 'sandbox without a row not removed, will retry');
      }
    }
  }
}

function byName(listed: readonly ListedSandbox[]): Sandboxes {
  return new Map(listed.map((sandbox) => [sandbox.name, sandbox]));
}

function isOver(sandbox: ListedSandbox | undefined, uid: string): boolean {
  return sandbox === undefined || sandbox.uid !== uid || sandbox.observation.state === 'ended';
}

function restartsOf(sandbox: ListedSandbox | undefined): number {
  return sandbox?.observation.state === 'running' ? sandbox.observation.restarts.count : 0;
}
