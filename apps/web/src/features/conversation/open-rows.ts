/**
 * Which rows were opened or closed, by their reader or by what leads into them: a row that scrolls away and back stays
 * as it was.
 */
export class OpenRows {
  private readonly chosen = new Map<string, boolean>();
  private readonly listeners = new Set<() => void>();

  /** `undefined`: nobody chose, so the row is as it begins. */
  get(key: string): boolean | undefined {
    return this.chosen.get(key);
  }

  set(key: string, open: boolean): void {
    if (this.chosen.get(key) === open) return;
    this.chosen.set(key, open);
    for (const listener of this.listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
