/** Work that is done one after another, in the order in which it was asked for. */
export class OneAtATime {
  #turn: Promise<unknown> = Promise.resolve();

  /** Begins when everything before has ended, however that did. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
