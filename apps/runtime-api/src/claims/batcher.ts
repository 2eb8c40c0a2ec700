/** What a batch is made of and how it is sent. */
export interface BatchOptions<Item> {
  /** Most items of one batch. */
  readonly most: number;
  /**
   * Batches on their way at the same time. More than one: a batch that waits for a lock does not hold up the others.
   */
  readonly inFlight: number;
  /** Items with the same key go in different batches, one after the other. */
  readonly keyOf: (item: Item) => string;
}

interface Entry<Item, Result> {
  readonly item: Item;
  readonly key: string;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Natural batching: an item without a batch under way is sent at once and alone; those that come meanwhile go together.
 * No timer is involved. When the database refuses a batch, nothing of it was written, and each item is sent again
 * alone: one failing item does not affect the others.
 */
export class Batcher<Item, Result> {
  private waiting: Array<Entry<Item, Result>> = [];
  private readonly busy = new Set<string>();
  private flying = 0;

  /** @param send answers one result for each item, in their order. */
  constructor(
    private readonly send: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options: BatchOptions<Item>,
  ) {}

  /** @throws what `send` rejects with. */
  run(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, key: this.options.keyOf(item), resolve, reject });
      this.pump();
    });
  }

  private pump(): void {
    while (this.flying < this.options.inFlight && this.waiting.length > 0) {
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      this.flying += 1;
      void this.flush(batch).finally(() => {
        this.flying -= 1;
        for (const { key } of batch) this.busy.delete(key);
        this.pump();
      });
    }
  }

  private takeBatch(): Array<Entry<Item, Result>> {
    const batch: Array<Entry<Item, Result>> = [];
    const left: Array<Entry<Item, Result>> = [];
    for (const entry of this.waiting) {
      if (batch.length < this.options.most && !this.busy.has(entry.key)) {
        this.busy.add(entry.key);
        batch.push(entry);
      } else left.push(entry);
    }
    this.waiting = left;
    return batch;
  }

  private async flush(batch: ReadonlyArray<Entry<Item, Result>>): Promise<void> {
    try {
      const results = await this.send(batch.map((entry) => entry.item));
      batch.forEach((entry, index) => {
        entry.resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && wasRefused(error)) await Promise.all(batch.map((entry) => this.flush([entry])));
      else for (const entry of batch) entry.reject(error);
    }
  }
}

/** Postgres answered with an error: the transaction is undone. Without an answer the outcome is unknown. */
function wasRefused(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}
