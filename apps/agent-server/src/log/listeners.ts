/** Listeners of one event, called in order. A listener that throws does not affect the others. */
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
