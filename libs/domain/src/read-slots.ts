/** Most that is read at once from peers that are not to be trusted, of one process and of one organization in it. */
export interface ReadLimits {
  readonly slots: number;
  readonly slotsPerOrg: number;
  /** Of what was read and is still held. */
  readonly bytes: number;
  readonly bytesPerOrg: number;
  /** Who may wait for a slot; more are refused at once. */
  readonly waiting: number;
  /** Longest wait for a slot. Milliseconds. */
  readonly waitMs: number;
}

/** One read under way. */
export interface ReadSlot {
  /** Accounts for bytes that are held from now on. False: there is no room for them, and the read must end. */
  take(bytes: number): boolean;
  /** Gives back the slot and all of its bytes. Repeatable. */
  leave(): void;
}

/** Why there is no slot: the organization has all of its own, or the process has none left. */
export type NoSlot = 'org' | 'process';

interface Usage {
  slots: number;
  bytes: number;
  readonly waiting: Array<(slot: ReadSlot | NoSlot) => void>;
}

/**
 * A semaphore over reads and the bytes that they hold. Organizations that wait take turns, each in its own order, so
 * that one with a thousand readers delays another by one read at most. A wait is bounded; no reader waits for bytes,
 * since a reader that holds bytes and waits for more could deadlock others.
 */
export class ReadSlots {
  private readonly orgs = new Map<string, Usage>();
  private slots = 0;
  private bytes = 0;
  private waiting = 0;

  constructor(private readonly limits: ReadLimits) {}

  /** Reads under way, those that wait, and bytes that are held. */
  get usage(): { readonly slots: number; readonly waiting: number; readonly bytes: number } {
    return { slots: this.slots, waiting: this.waiting, bytes: this.bytes };
  }

  /** @throws the signal's reason, when it is aborted first. */
  async enter(orgId: string, signal?: AbortSignal): Promise<ReadSlot | NoSlot> {
    signal?.throwIfAborted();
    const org = this.usageOf(orgId);
    if (org.waiting.length === 0 && this.isFree(org)) return this.open(orgId, org, true);
    if (this.waiting >= this.limits.waiting || org.waiting.length * 2 >= this.limits.waiting) {
      this.forget(orgId, org);
      return this.reasonFor(org);
    }
    return this.wait(orgId, org, signal);
  }

  /** Bytes without a slot: for answers that are small, and for waits that are long. */
  account(orgId: string): ReadSlot {
    return this.open(orgId, this.usageOf(orgId), false);
  }

  private wait(orgId: string, org: Usage, signal: AbortSignal | undefined): Promise<ReadSlot | NoSlot> {
    return new Promise((resolve, reject) => {
      const settle = (slot: ReadSlot | NoSlot): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        resolve(slot);
      };
      const giveUp = (): boolean => {
        const place = org.waiting.indexOf(settle);
        if (place < 0) return false;
        org.waiting.splice(place, 1);
        this.waiting -= 1;
        this.forget(orgId, org);
        return true;
      };
      const onAbort = (): void => {
        clearTimeout(timer);
        if (giveUp()) reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        if (giveUp()) settle(this.reasonFor(org));
      }, this.limits.waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      org.waiting.push(settle);
      this.waiting += 1;
    });
  }

  private open(orgId: string, org: Usage, slotted: boolean): ReadSlot {
    if (slotted) {
      this.slots += 1;
      org.slots += 1;
    }
    let held = 0;
    let left = false;
    // Known while anything of it is open, though it may hold nothing yet.
    this.orgs.set(orgId, org);
    return {
      take: (bytes) => {
        if (left || this.bytes + bytes > this.limits.bytes || org.bytes + bytes > this.limits.bytesPerOrg) return false;
        held += bytes;
        org.bytes += bytes;
        this.bytes += bytes;
        this.orgs.set(orgId, org);
        return true;
      },
      leave: () => {
        if (left) return;
        left = true;
        org.bytes -= held;
        this.bytes -= held;
        if (slotted) {
          org.slots -= 1;
          this.slots -= 1;
        }
        this.forget(orgId, org);
        if (slotted) this.serve();
      },
    };
  }

  /** Gives free slots to those who wait: round-robin over organizations. */
  private serve(): void {
    for (const [orgId, org] of [...this.orgs]) {
      if (this.slots >= this.limits.slots) return;
      if (org.waiting.length === 0 || !this.isFree(org)) continue;
      const next = org.waiting.shift();
      this.waiting -= 1;
      // Last in the order of turns from now on.
      this.orgs.delete(orgId);
      next?.(this.open(orgId, org, true));
    }
  }

  private isFree(org: Usage): boolean {
    return this.slots < this.limits.slots && org.slots < this.limits.slotsPerOrg;
  }

  private reasonFor(org: Usage): NoSlot {
    return org.slots >= this.limits.slotsPerOrg ? 'org' : 'process';
  }

  private usageOf(orgId: string): Usage {
    const known = this.orgs.get(orgId);
    if (known !== undefined) return known;
    const usage: Usage = { slots: 0, bytes: 0, waiting: [] };
    this.orgs.set(orgId, usage);
    return usage;
  }

  private forget(orgId: string, org: Usage): void {
    if (org.slots === 0 && org.bytes === 0 && org.waiting.length === 0 && this.orgs.get(orgId) === org)
      this.orgs.delete(orgId);
  }
}

/**
 * The whole of an answer, piece by piece, as long as it has at most `maxBytes` and the slot has room for it. The wait
 * for more data is bounded by the maker of the stream: a deadline that destroys it is thrown from here.
 */
export async function readWithin(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  slot: Pick<ReadSlot, 'take'>,
): Promise<readonly Uint8Array[] | 'too-large' | 'no-room'> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return 'too-large';
    if (!slot.take(chunk.byteLength)) return 'no-room';
    parts.push(chunk);
  }
  return parts;
}
