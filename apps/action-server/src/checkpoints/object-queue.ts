import type { CheckpointObject, ObjectSink } from '@slipway/checkpoint';

/**
 * Objects from who makes them to who sends them, one at a time: a `put` settles when the reader asks for the next
 * one, so its bytes are read before they are used again.
 */
export class ObjectQueue implements ObjectSink, AsyncIterable<CheckpointObject> {
  private offered: { object: CheckpointObject; taken: () => void; refused: (error: unknown) => void } | null = null;
  private reader: { next: (object: CheckpointObject | null) => void; fail: (error: unknown) => void } | null = null;
  private ended: { readonly error: unknown } | null = null;

  put(object: CheckpointObject): Promise<void> {
    if (this.ended !== null) return Promise.reject(this.ended.error);
    return new Promise((taken, refused) => {
      this.offered = { object, taken, refused };
      this.reader?.next(object);
      this.reader = null;
    });
  }

  /** No object follows; with an error, the reader gets it. */
  end(error: unknown = null): void {
    this.ended = { error };
    if (error === null) this.reader?.next(null);
    else this.reader?.fail(error);
    this.reader = null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CheckpointObject> {
    try {
      for (;;) {
        const object = await this.next();
        if (object === null) return;
        yield object;
        const { offered } = this;
        this.offered = null;
        offered?.taken();
      }
    } finally {
      // Whoever reads has gone: nothing more is wanted.
      const gone = new Error('the reader of the objects is gone');
      this.ended ??= { error: gone };
      this.offered?.refused(gone);
    }
  }

  private next(): Promise<CheckpointObject | null> {
    if (this.offered !== null) return Promise.resolve(this.offered.object);
    if (this.ended !== null)
      return this.ended.error === null ? Promise.resolve(null) : Promise.reject(this.ended.error);
    return new Promise((next, fail) => {
      this.reader = { next, fail };
    });
  }
}
