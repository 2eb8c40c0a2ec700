import type { WorkspacePrints } from '@slipway/contracts/sandboxes';

/** Fingerprints of a workspace as a hash table: a lookup costs a few nanoseconds. */
export class PrintSet {
  readonly window: number;
  readonly folders: readonly string[];
  private readonly prints: Uint32Array;
  /** One more than the place of the folder; 0: the slot is free. */
  private readonly owners: Uint8Array;
  private readonly mask: number;

  /** What does not fit together is left out: a sandbox said it. */
  constructor({ window, folders, prints, owners }: WorkspacePrints) {
    this.window = window;
    this.folders = folders;
    const bytes = Buffer.from(prints, 'base64');
    const owner = Buffer.from(owners, 'base64');
    const count = Math.min(owner.length, Math.floor(bytes.length / 4));
    const size = 2 ** Math.ceil(Math.log2(Math.max(2 * count, 16)));
    this.mask = size - 1;
    this.prints = new Uint32Array(size);
    this.owners = new Uint8Array(size);
    for (let index = 0; index < count; index += 1) {
      const folder = owner[index] as number;
      if (folder < folders.length && folder < 255) this.add(bytes.readUInt32LE(4 * index), folder);
    }
  }

  /** Of its tables. */
  get bytes(): number {
    return this.prints.byteLength + this.owners.byteLength;
  }

  /** @returns the place of its folder; -1: it is no fingerprint of the workspace. */
  folderOf(print: number): number {
    for (let slot = slotOf(print, this.mask); ; slot = (slot + 1) & this.mask) {
      const owner = this.owners[slot] as number;
      if (owner === 0) return -1;
      if (this.prints[slot] === print) return owner - 1;
    }
  }

  private add(print: number, folder: number): void {
    let slot = slotOf(print, this.mask);
    while (this.owners[slot] !== 0) {
      if (this.prints[slot] === print) return;
      slot = (slot + 1) & this.mask;
    }
    this.prints[slot] = print;
    this.owners[slot] = folder + 1;
  }
}

/** Mixed, so that numbers of one's choice do not all begin at one slot. */
function slotOf(print: number, mask: number): number {
  const mixed = Math.imul(print ^ (print >>> 16), 0x7feb_352d);
  return (mixed ^ (mixed >>> 15)) & mask;
}
