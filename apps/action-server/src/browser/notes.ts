/** Most notes of one answer; more are counted. */
const MAX_NOTES = 20;

/**
 * What happened in the browser beside what was asked for, since the last answer: dialogs, downloads, tabs that opened,
 * refusals. Bounded, each sentence once.
 */
export class Notes {
  #said = new Map<string, number>();
  #left = 0;

  add(sentence: string): void {
    const times = this.#said.get(sentence);
    if (times === undefined && this.#said.size >= MAX_NOTES) this.#left += 1;
    else this.#said.set(sentence, (times ?? 0) + 1);
  }

  take(): string[] {
    const lines = [...this.#said].map(([sentence, times]) => (times === 1 ? sentence : `${sentence} (${times} times)`));
    if (this.#left > 0) lines.push(`${this.#left} more things happened.`);
    this.#said.clear();
    this.#left = 0;
    return lines;
  }
}
