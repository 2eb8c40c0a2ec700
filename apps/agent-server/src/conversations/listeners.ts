/** Who wants to hear of something. A listener that throws is a fault of its own: the others are told first come, first served. */
export class Listeners<T> {
  private readonly all = new Set<(value: T) => void>();

  /** @returns what ends it. */
  listen(listener: (value: T) => void): () => void {
    this.all.add(listener);
    return () => this.all.delete(listener);
  }

  tell(value: T): void {
    for (const listener of this.all) listener(value);
  }
}
