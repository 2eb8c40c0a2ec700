import type { StreamingDelta } from '@slipway/contracts';
import type { SecretMask } from './secret-mask.js';

/** Pieces of text on their way out: a secret that is split over several is hidden too. Offsets are those of the masked text. */
export class DeltaMask {
  private responseId = '';
  private readonly channels = new Map<StreamingDelta['channel'], { held: string; offset: number }>();

  constructor(private readonly mask: SecretMask) {}

  /** What can be shown now; `null` when all of it has to wait for the next piece. */
  next(delta: StreamingDelta): StreamingDelta | null {
    if (delta.responseId !== this.responseId) {
      this.responseId = delta.responseId;
      this.channels.clear();
    }
    const state = this.channels.get(delta.channel) ?? { held: '', offset: 0 };
    this.channels.set(delta.channel, state);
    const { shown: text, held } = this.mask.piece(state.held + delta.text);
    const { offset } = state;
    state.held = held;
    state.offset += text.length;
    return text === '' ? null : { ...delta, offset, text };
  }
}
