/** A position of the log, and of a call in it where the call is known: it is opened. */
export interface Place {
  readonly seq: number;
  /** Id of the ActionEvent; `null`: the row alone. */
  readonly stepId: string | null;
  /** Whether its row gets the focus. */
  readonly focus: boolean;
}

/**
 * Asks the timeline to show a position of the log. What is asked for while no timeline listens is kept for the one that
 * comes.
 */
export class Reveal {
  private listener: ((place: Place) => void) | null = null;
  private kept: Place | null = null;

  ask(seq: number, { stepId = null, focus = true }: Partial<Place> = {}): void {
    const place = { seq, stepId, focus };
    if (this.listener === null) this.kept = place;
    else this.listener(place);
  }

  /** Answers how to stop listening. */
  listen(listener: (place: Place) => void): () => void {
    this.listener = listener;
    if (this.kept !== null) listener(this.kept);
    this.kept = null;
    return () => {
      if (this.listener === listener) this.listener = null;
    };
  }
}

/** The address of a position of this conversation's log. */
export function linkTo(seq: number, location: Pick<Location, 'origin' | 'pathname'> = window.location): string {
  return `${location.origin}${location.pathname}?event=${seq}`;
}
