import type { Hint } from '@slipway/contracts';
import type { Logger } from '@slipway/telemetry';

/** The listeners of one bus. One that throws is logged, and the others hear the hint all the same. */
export class HintListeners {
  private readonly listeners = new Set<(hint: Hint) => void>();

  constructor(private readonly logger: Logger) {}

  add(listener: (hint: Hint) => void): () => void {
    // A wrapper of its own, so that the same function may listen twice.
    const own = (hint: Hint): void => listener(hint);
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  tell(hint: Hint): void {
    for (const listener of this.listeners) {
      try {
        listener(hint);
      } catch (error) {
        this.logger.error({ err: error, kind: hint.kind }, 'a hint listener failed');
      }
    }
  }
}
