import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** What a sandbox remembers of its one activation. Session keys only as SHA-256, base64url. */
const ActivationRecord = z.object({
  claim_id: z.string(),
  body_sha256: z.string(),
  epoch: z.int(),
  org: z.string(),
  session_key_hashes: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  /** `CallerKeys`. */
  app_key_sha256: z.string().optional(),
  gateway_key_sha256: z.string().optional(),
});
export type ActivationRecord = z.infer<typeof ActivationRecord>;

/** `unreadable` is a latch that cannot be read: closed to all. */
export type LatchState =
  | { readonly state: 'open' }
  | { readonly state: 'closed'; readonly record: ActivationRecord }
  | { readonly state: 'unreadable' };

/**
 * Accepts exactly one claim in the lifetime of the state directory: the record is on disk, whole, before the answer.
 * Calls wait for each other. A file that cannot be read counts as closed.
 */
export class ActivationLatch {
  private queue: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private current: LatchState,
  ) {}

  static async open(stateDir: string): Promise<ActivationLatch> {
    const file = path.join(stateDir, 'activation.json');
    return new ActivationLatch(file, await read(file));
  }

  get state(): LatchState {
    return this.current;
  }

  /**
   * `repeated`: this very claim closed the latch before. `refused`: another did. Rejects when the disk refuses; the
   * latch is then as it was.
   */
  claim(record: ActivationRecord): Promise<'accepted' | 'repeated' | 'refused'> {
    const turn = this.queue.then(() => this.close(record));
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  private async close(record: ActivationRecord): Promise<'accepted' | 'repeated' | 'refused'> {
    if (this.current.state === 'open' && (await createDurably(this.file, JSON.stringify(record)))) {
      this.current = { state: 'closed', record };
      return 'accepted';
    }
    if (this.current.state === 'open') this.current = await read(this.file);
    if (this.current.state !== 'closed') return 'refused';
    const known = this.current.record;
    return known.claim_id === record.claim_id && known.body_sha256 === record.body_sha256 ? 'repeated' : 'refused';
  }
}

async function read(file: string): Promise<LatchState> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'open' };
    throw error;
  }
  try {
    return { state: 'closed', record: ActivationRecord.parse(JSON.parse(text)) };
  } catch {
    return { state: 'unreadable' };
  }
}

/** Makes the file with this content, whole and synced; false when it exists already. */
async function createDurably(file: string, content: string): Promise<boolean> {
  const directory = path.dirname(file);
  const draft = `${file}.${process.pid}.draft`;
  await mkdir(directory, { recursive: true });
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    // A link fails when the name is taken: never a second record, never half of one.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const parent = await open(directory, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
  return true;
}
