/** So long other work of this process waits at most, about. Milliseconds. */
const SLICE_MS = 20;

/** Long work in pieces: other work of the process goes on between them. */
export class Slices {
  private endsAt = performance.now() + SLICE_MS;

  constructor(private readonly signal: AbortSignal) {}

  /** The piece under way has lasted long enough: `rest` is to be awaited. */
  get over(): boolean {
    return performance.now() > this.endsAt;
  }

  /** @throws the signal's reason. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.signal.throwIfAborted();
    this.endsAt = performance.now() + SLICE_MS;
  }
}
