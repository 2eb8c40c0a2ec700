import type { StreamingDelta } from '@slipway/contracts/events';
import { maskColoured } from './colour-mask.js';
import type { SecretMask } from './secret-mask.js';

/** Texts that may come beside each other, such as the progress of several calls: more than there are at once. */
const MAX_TEXTS = 64;

/**
 * Pieces of text on their way out: a secret that is split over several is hidden too. Offsets are those of the masked
 * text. Several texts may come in turns.
 */
export class DeltaMask {
  /** The one that a piece came of last is the last. */
  private readonly texts = new Map<string, { held: string; offset: number }>();

  constructor(private readonly mask: SecretMask) {}

  /** What can be shown now; `null` when all of it has to wait for the next piece. */
  next(delta: StreamingDelta): StreamingDelta | null {
    const which = `${delta.channel} ${delta.responseId}`;
    const state = this.texts.get(which) ?? { held: '', offset: 0 };
    this.texts.delete(which);
    this.texts.set(which, state);
    for (const oldest of this.texts.keys()) if (this.texts.size > MAX_TEXTS) this.texts.delete(oldest);
    const { shown: text, held } = maskColoured(this.mask, state.held + delta.text);
    const { offset } = state;
    state.held = held;
    state.offset += text.length;
    return text === '' ? null : { ...delta, offset, text };
  }
}
