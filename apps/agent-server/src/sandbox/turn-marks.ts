import { SlipwayError } from '@slipway/errors';

/** Turns whose beginning the tool process is to remember, one after the other. */
export class TurnMarks {
  /** The beginning of a turn that is being remembered; never rejects. */
  private marking: Promise<void> = Promise.resolve();
  /** Turns whose beginning is not remembered, or not yet: what the tool process knows of them is of an earlier one. */
  private readonly unmarked = new Set<string>();
  /** Those whose mark is asked for and has not begun. */
  private readonly toMark = new Set<string>();

  constructor(private readonly ask: (turn: string) => Promise<{ readonly status: number }>) {}

  /** Once nothing is being remembered. Never rejects. */
  get settled(): Promise<void> {
    return this.marking;
  }

  mark(turn: string): void {
    // One that has not begun will find what there is now.
    if (this.toMark.has(turn)) return;
    const asked = async (): Promise<void> => {
      this.toMark.delete(turn);
      const { status } = await this.ask(turn);
      if (status < 300) this.unmarked.delete(turn);
    };
    this.unmarked.add(turn);
    this.toMark.add(turn);
    this.marking = this.marking.then(asked).catch(() => {});
  }

  /** @throws SlipwayError `changes.turn-unknown` when the beginning of the turn is not remembered. */
  async marked(turn: string): Promise<void> {
    await this.marking;
    if (this.unmarked.has(turn))
      throw new SlipwayError(
        'changes.turn-unknown',
        'The tool process was away, or took too long, when the last message came.',
      );
  }
}
