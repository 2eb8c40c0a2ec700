import { textOf } from '../tree/tree-entry.js';
import type { Listed, Named } from './capture-types.js';

/** Counts all and names the first. */
export class Listing<Reason> {
  count = 0;
  private readonly named: Named<Reason>[] = [];

  constructor(private readonly most = 100) {}

  /** @param path bytes, one a character. */
  add(path: string, reason: Reason): void {
    this.count += 1;
    if (this.named.length < this.most) this.named.push({ path: textOf(path), reason });
  }

  /** Those of a part that was not looked at again: counted in its block of the index. */
  more(count: number): void {
    this.count += count;
  }

  listed(): Listed<Reason> {
    return { count: this.count, named: this.named };
  }
}
