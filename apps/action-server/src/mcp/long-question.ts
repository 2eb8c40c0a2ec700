/** How long a question is kept open. Milliseconds. */
const WAIT_MS = 25_000;

/** Who asks and is answered when there is something to say: `wake` does that for all who wait. */
export class LongQuestions {
  readonly #waiting = new Set<() => void>();

  get areOpen(): boolean {
    return this.#waiting.size > 0;
  }

  wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  /** Resolves when there is something new, or after a while. Rejects with the signal's reason. */
  news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const rest = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal.removeEventListener('abort', abort);
      };
      const done = (): void => {
        rest();
        resolve();
      };
      const abort = (): void => {
        rest();
        reject(signal.reason);
      };
      const timer = setTimeout(done, WAIT_MS);
      this.#waiting.add(done);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
