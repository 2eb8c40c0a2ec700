/**
 * Commits, packing anew, readers and the collector as steps that may come in any order, each of them what one
 * transaction or one call to the store does. Time passes between any two. Contents are bits.
 */

/**
 * What is wrong with a variant of the rules. `late-without-own-pack`: a transfer that brings no pack is never too late.
 * That alone is harmless, since nothing of `deleting` comes back; without the mark it is not.
 */
export type PackFlaw =
  | 'late-without-own-pack'
  | 'no-grace-for-doomed'
  | 'no-grace-for-objects'
  | 'no-bound-for-transfers'
  | 'no-revive'
  | 'no-recheck'
  | 'no-deleting-mark'
  | 'swap-in-two-commits';

const GRACE_HOURS = 24;
const OBJECT_HOURS = 48;
const TRANSFER_HOURS = 24;
/** Longest restore. Less than the grace. */
const READ_HOURS = 12;
const CONVERSATIONS = 2;
const MAX_CONTENTS = 30;

interface Pack {
  contents: number;
  row: 'none' | 'live' | 'doomed' | 'deleting';
  object: boolean;
  storedAt: number;
  doomedAt: number;
  storedBy: number;
}

interface Checkpoint {
  readonly conversation: number;
  readonly contents: number;
  packs: Set<number>;
  durable: boolean;
}

/** A transfer, or packing anew, between its first byte and its commit. */
interface Transfer {
  readonly conversation: number;
  readonly begun: number;
  /** What its root reaches of the held packs. */
  readonly kept: number;
  readonly held: readonly number[];
  pack: number | null;
}
interface Repack {
  readonly begun: number;
  readonly of: number;
  readonly drop: readonly number[];
  pack: number | null;
  /** Only of the variant: the old ones are off the list, the new one is not on it. */
  torn: boolean;
}
interface Reader {
  readonly begun: number;
  readonly packs: readonly number[];
}

/** Answers a number from 0 to below `bound`. */
export type Choose = (bound: number) => number;

/** A small fast generator of numbers (mulberry32), the same for the same seed. */
export function chooserOf(seed: number): Choose {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

export class PackModel {
  private now = 0;
  private contents = 0;
  private readonly packs: Pack[] = [];
  private readonly checkpoints: Checkpoint[] = [];
  private readonly transfers: Transfer[] = [];
  private repack: Repack | null = null;
  private readers: Reader[] = [];
  /** The collector's lists, read at some time and used at another. */
  private unreferenced: number[] = [];
  private claimed: number[] = [];
  private orphans: number[] = [];
  /** What a reader missed. */
  private missed: string | null = null;

  constructor(
    private readonly choose: Choose,
    private readonly flaws: readonly PackFlaw[] = [],
  ) {}

  /** One step of anybody. @returns what it broke; `null`: nothing. */
  step(): string | null {
    const steps = STEPS;
    steps[this.choose(steps.length)]?.(this);
    return this.broken();
  }

  /** Every content of a durable checkpoint is in one of its packs, that one in the store, and its row live. */
  broken(): string | null {
    if (this.missed !== null) return this.missed;
    for (const checkpoint of this.checkpoints) {
      if (!checkpoint.durable) continue;
      let found = 0;
      for (const id of checkpoint.packs) {
        const pack = this.packs[id];
        if (pack === undefined || pack.row !== 'live' || !pack.object) return 'a durable checkpoint lost a pack';
        found |= pack.contents;
      }
      if ((checkpoint.contents & ~found) !== 0) return 'a durable checkpoint lost contents';
    }
    return null;
  }

  /** No writer comes any more, and the grace is over. @returns whether exactly what is referred to is stored. */
  settled(): boolean {
    this.transfers.length = 0;
    this.repack = null;
    for (let round = 0; round < 3; round += 1) {
      this.now += 2 * OBJECT_HOURS;
      this.look();
      while (this.unreferenced.length > 0) this.doom();
      this.claim();
      while (this.claimed.length > 0) this.deleteClaimed();
      this.listObjects();
      while (this.orphans.length > 0) this.deleteOrphan();
    }
    return this.packs.every((pack, id) => pack.object === this.isReferred(id));
  }

  tick(): void {
    this.now += 1 + this.choose(14);
  }

  begin(): void {
    const conversation = this.choose(CONVERSATIONS);
    const own = this.checkpoints.filter((each) => each.durable && each.conversation === conversation);
    const parent = own[this.choose(own.length + 1)];
    const held = parent === undefined ? [] : [...parent.packs];
    const kept = (parent?.contents ?? 0) & (this.choose(4) === 0 ? this.choose(2 ** MAX_CONTENTS) : -1);
    this.transfers.push({ conversation, begun: this.now, held, kept, pack: null });
  }

  put(): void {
    const transfer = this.transfers[this.choose(Math.max(1, this.transfers.length))];
    if (transfer === undefined || transfer.pack !== null || this.contents === MAX_CONTENTS) return;
    transfer.pack = this.store(1 << this.contents, transfer.conversation);
    this.contents += 1;
  }

  /** `commit_checkpoint`; whatever it answers, the transfer is over. */
  commit(): void {
    const [transfer] = this.transfers.splice(this.choose(Math.max(1, this.transfers.length)), 1);
    if (transfer === undefined) return;
    const unbound = this.has('no-bound-for-transfers') || (this.has('late-without-own-pack') && transfer.pack === null);
    if (!unbound && this.now - transfer.begun > TRANSFER_HOURS) return;
    const { conversation, held, pack } = transfer;
    for (const id of held) {
      const state = this.packs[id];
      const own =
        state?.storedBy === conversation ||
        this.checkpoints.some((each) => each.durable && each.conversation === conversation && each.packs.has(id));
      if (state === undefined || !own || (state.row !== 'live' && state.row !== 'doomed')) return;
    }
    if (!this.has('no-revive'))
      for (const id of held) {
        const state = this.packs[id];
        if (state?.row === 'doomed') state.row = 'live';
      }
    const packs = new Set(held);
    let contents = transfer.kept;
    const fresh = pack === null ? undefined : this.packs[pack];
    if (pack !== null && fresh !== undefined) {
      fresh.row = 'live';
      packs.add(pack);
      contents |= fresh.contents;
    }
    this.checkpoints.push({ conversation, contents, packs, durable: true });
  }

  /** Retention, or a user. */
  expire(): void {
    const checkpoint = this.checkpoints[this.choose(Math.max(1, this.checkpoints.length))];
    if (checkpoint === undefined) return;
    checkpoint.durable = false;
    checkpoint.packs = new Set();
  }

  beginRepack(): void {
    if (this.repack !== null) return;
    const of = this.choose(Math.max(1, this.checkpoints.length));
    const checkpoint = this.checkpoints[of];
    if (checkpoint?.durable !== true || checkpoint.packs.size === 0) return;
    this.repack = { begun: this.now, of, drop: [...checkpoint.packs], pack: null, torn: false };
  }

  putRepack(): void {
    const { repack } = this;
    if (repack === null || repack.pack !== null) return;
    const contents = repack.drop.reduce((all, id) => all | (this.packs[id]?.contents ?? 0), 0);
    repack.pack = this.store(contents, this.checkpoints[repack.of]?.conversation ?? 0);
  }

  /** `swap_packs` */
  swap(): void {
    const { repack } = this;
    if (repack === null || repack.pack === null) return;
    const checkpoint = this.checkpoints[repack.of];
    const late = !this.has('no-bound-for-transfers') && this.now - repack.begun > TRANSFER_HOURS;
    const pack = this.packs[repack.pack];
    if (checkpoint?.durable !== true || late || pack === undefined) {
      this.repack = null;
      return;
    }
    if (!repack.torn) for (const id of repack.drop) checkpoint.packs.delete(id);
    if (this.has('swap-in-two-commits') && !repack.torn) {
      repack.torn = true;
      return;
    }
    pack.row = 'live';
    checkpoint.packs.add(repack.pack);
    this.repack = null;
  }

  beginRead(): void {
    const checkpoint = this.checkpoints[this.choose(Math.max(1, this.checkpoints.length))];
    if (checkpoint?.durable === true) this.readers.push({ begun: this.now, packs: [...checkpoint.packs] });
  }

  read(): void {
    this.readers = this.readers.filter(({ begun }) => this.now - begun <= READ_HOURS);
    for (const { packs } of this.readers)
      if (packs.some((id) => this.packs[id]?.object !== true)) this.missed = 'a reader lost a pack';
  }

  look(): void {
    this.unreferenced = this.packs.flatMap(({ row }, id) => (row === 'live' && !this.isReferred(id) ? [id] : []));
  }

  /** `doom_packs`, of one */
  doom(): void {
    const id = this.unreferenced.pop();
    const pack = id === undefined ? undefined : this.packs[id];
    if (id === undefined || pack?.row !== 'live') return;
    if (!this.has('no-recheck') && this.isReferred(id)) return;
    pack.row = 'doomed';
    pack.doomedAt = this.now;
  }

  /** `claim_packs` */
  claim(): void {
    const grace = this.has('no-grace-for-doomed') ? 0 : GRACE_HOURS;
    this.claimed = this.packs.flatMap(({ row, doomedAt }, id) =>
      row === 'deleting' || (row === 'doomed' && this.now - doomedAt >= grace) ? [id] : [],
    );
    if (this.has('no-deleting-mark')) return;
    for (const id of this.claimed) {
      const pack = this.packs[id];
      if (pack !== undefined) pack.row = 'deleting';
    }
  }

  /** The call to the store. */
  deleteClaimed(): void {
    const id = this.claimed.pop();
    const pack = id === undefined ? undefined : this.packs[id];
    if (pack === undefined) return;
    pack.object = false;
    // `finish_packs`; without the mark the row goes when it is found doomed still.
    if (pack.row === 'deleting' || (this.has('no-deleting-mark') && pack.row === 'doomed')) pack.row = 'none';
  }

  /** The collector dies and begins anew. */
  kill(): void {
    this.unreferenced = [];
    this.claimed = [];
    this.orphans = [];
  }

  listObjects(): void {
    const hours = this.has('no-grace-for-objects') ? 0 : OBJECT_HOURS;
    this.orphans = this.packs.flatMap(({ row, object, storedAt }, id) =>
      object && row === 'none' && this.now - storedAt >= hours ? [id] : [],
    );
  }

  deleteOrphan(): void {
    const id = this.orphans.pop();
    const pack = id === undefined ? undefined : this.packs[id];
    if (pack !== undefined) pack.object = false;
  }

  private store(contents: number, storedBy: number): number {
    this.packs.push({ contents, row: 'none', object: true, storedAt: this.now, doomedAt: 0, storedBy });
    return this.packs.length - 1;
  }

  private has(flaw: PackFlaw): boolean {
    return this.flaws.includes(flaw);
  }

  private isReferred(id: number): boolean {
    return this.checkpoints.some(({ packs }) => packs.has(id));
  }
}

/** Those that are needed in a row are there more often. */
const STEPS: ReadonlyArray<(model: PackModel) => void> = [
  (model) => model.tick(),
  (model) => model.tick(),
  (model) => model.begin(),
  (model) => model.put(),
  (model) => model.put(),
  (model) => model.commit(),
  (model) => model.commit(),
  (model) => model.expire(),
  (model) => model.beginRepack(),
  (model) => model.putRepack(),
  (model) => model.swap(),
  (model) => model.beginRead(),
  (model) => model.read(),
  (model) => model.look(),
  (model) => model.doom(),
  (model) => model.doom(),
  (model) => model.claim(),
  (model) => model.deleteClaimed(),
  (model) => model.deleteClaimed(),
  (model) => model.kill(),
  (model) => model.listObjects(),
  (model) => model.deleteOrphan(),
];
