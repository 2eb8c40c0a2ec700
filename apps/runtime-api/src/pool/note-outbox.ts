import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { PoolContext } from './pool-context.js';

/** Notes taken by one pass, and how many of them are on their way at the same time. */
const NOTES_OF_A_PASS = 200;
const AT_ONCE = 8;
const NOTE_TIMEOUT_MS = 5_000;
/** Longest pause before a note that failed is tried again. Seconds; doubles from one. */
const LONGEST_PAUSE_SECONDS = 60;

interface Note {
  readonly slotId: string;
  readonly orgId: string;
  readonly sessionId: string;
  readonly claimId: string;
  readonly podName: string;
  readonly podUid: string;
  /** Its claim holds it still. */
  readonly held: boolean;
}

/**
 * Writes on sandboxes whose they are, after the answer to the claim. The rows were written with the claim, so that none
 * is forgotten; each may be done twice, which changes nothing. One whose sandbox has been given back meanwhile is given
 * up.
 */
export class NoteOutbox {
  constructor(private readonly context: PoolContext) {}

  /** Does what is due. @returns how many rows are done with. */
  async pass(signal: AbortSignal): Promise<number> {
    const { db } = this.context;
    const due = await dueNotes(db);
    const done: string[] = [];
    const failed: string[] = [];
    const work = [...due];
    const one = async (): Promise<void> => {
      for (let note = work.shift(); note !== undefined; note = work.shift()) {
        if (signal.aborted) return;
        (await this.write(note, signal)) ? done.push(note.slotId) : failed.push(note.slotId);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    if (done.length > 0) await forget(db, done);
    if (failed.length > 0) await postpone(db, failed);
    return done.length;
  }

  /** False: it has to be tried again. */
  private async write(note: Note, signal: AbortSignal): Promise<boolean> {
    if (!note.held) return true;
    const { orgId, sessionId, claimId } = note;
    try {
      await this.context.backend.note(
        note.podName,
        note.podUid,
        { orgId, sessionId, claimId },
        AbortSignal.any([signal, AbortSignal.timeout(NOTE_TIMEOUT_MS)]),
      );
    } catch (error) {
      if (!signal.aborted)
        this.context.logger.warn(
          { err: error, slot_id: note.slotId, claim_id: claimId },
          'sandbox owner not recorded in the cluster, will retry',
        );
      return false;
    }
    await this.context.failpoints('note.written');
    return true;
  }
}

function dueNotes(db: SqlPool): Promise<Note[]> {
  return asSystem(db, 'slipway_runtime_system', 'owners noted on sandboxes', async (client) => {
    const { rows } = await client.query<Note>({
      name: 'due_notes',
      text: `SELECT n.slot_id AS "slotId", n.org_id AS "orgId", n.session_id AS "sessionId", n.claim_id AS "claimId", n.pod_name AS "podName", n.pod_uid AS "podUid",
               coalesce(s.state IN ('bound', 'active'), false) AS held
             FROM runtime.sandbox_note n LEFT JOIN runtime.slot s USING (slot_id) WHERE n.next_at <= now() ORDER BY n.next_at LIMIT $1`,
      values: [NOTES_OF_A_PASS],
    });
    return rows;
  });
}

function forget(db: SqlPool, slotIds: readonly string[]): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'owners were noted', async (client) => {
    await client.query({
      name: 'forget_notes',
      text: 'DELETE FROM runtime.sandbox_note WHERE slot_id = ANY ($1)',
      values: [slotIds],
    });
  });
}

function postpone(db: SqlPool, slotIds: readonly string[]): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'owners are noted later', async (client) => {
    await client.query(
      `UPDATE runtime.sandbox_note SET attempts = attempts + 1, next_at = now() + least($2, 2 ^ attempts) * interval '1 second' WHERE slot_id = ANY ($1)`,
      [slotIds, LONGEST_PAUSE_SECONDS],
    );
  });
}
