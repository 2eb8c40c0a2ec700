/** Answers that are held for a while, and questions under way that several wait for. Failures are not held. */
export class HeldAnswers<T> {
  private readonly held = new Map<string, { readonly until: number; readonly answer: Promise<T> }>();

  /** @param freshMs how long an answer is believed. @param max answers that are held; the oldest goes first. */
  constructor(
    private readonly freshMs: number,
    private readonly max: number,
    private readonly now: () => number,
  ) {}

  get(key: string, ask: () => Promise<T>): Promise<T> {
    // In the order of their ends, since all are believed for as long.
    for (const [each, { until }] of this.held) {
      if (until > this.now()) break;
      this.held.delete(each);
    }
    const known = this.held.get(key);
    if (known !== undefined && known.until > this.now()) return known.answer;
    const answer = ask();
    this.held.delete(key);
    this.held.set(key, { until: this.now() + this.freshMs, answer });
    if (this.held.size > this.max) this.held.delete(this.held.keys().next().value as string);
    answer.catch(() => {
      if (this.held.get(key)?.answer === answer) this.held.delete(key);
    });
    return answer;
  }
}
