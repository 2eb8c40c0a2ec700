/**
 * Asks the timeline to show a position of the log. What is asked for while no timeline listens is kept for the one that
 * comes.
 */
export class Reveal {
  private listener: ((seq: number) => void) | null = null;
  private kept: number | null = null;

  ask(seq: number): void {
    if (this.listener === null) this.kept = seq;
    else this.listener(seq);
  }

  /** Answers how to stop listening. */
  listen(listener: (seq: number) => void): () => void {
    this.listener = listener;
    if (this.kept !== null) listener(this.kept);
    this.kept = null;
    return () => {
      if (this.listener === listener) this.listener = null;
    };
  }
}
