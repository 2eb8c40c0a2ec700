import type { Hint } from '@slipway/contracts/events';
import type { Logger } from '@slipway/telemetry';

/** The listeners of one bus. One that throws is logged, and the others hear the hint all the same. */
export class HintListeners {
  private readonly listeners = new Set<{ readonly hear: (hint: Hint) => void; readonly missed: () => void }>();
  private openedBefore = false;

  constructor(private readonly logger: Logger) {}

  add(hear: (hint: Hint) => void, missed: () => void = () => {}): () => void {
    // An object of its own, so that the same function may listen twice.
    const listener = { hear, missed };
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(hint: Hint): void {
    for (const { hear } of this.listeners) this.call(hint.kind, () => hear(hint));
  }

  /** Hints come from now on. All but the first time that is after an outage. */
  opened(): void {
    if (this.openedBefore) for (const { missed } of this.listeners) this.call('missed', missed);
    this.openedBefore = true;
  }

  private call(kind: string, listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.logger.error({ err: error, kind }, 'hint listener failed');
    }
  }
}
