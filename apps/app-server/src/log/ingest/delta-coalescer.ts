import type { StreamingDelta } from '@slipway/contracts/events';

/** Deltas of one conversation that arrive within this time go out as one. Milliseconds; faster than an eye sees. */
const GATHER_MS = 25;
/** A piece goes out at once when it is this long. UTF-16 code units. */
const MAX_PIECE_LENGTH = 4_096;

interface Waiting {
  readonly orgId: string;
  readonly pieces: StreamingDelta[];
  readonly timer: NodeJS.Timeout;
}

/**
 * Joins the pieces of text that models write, so that a fast model does not cost a frame a token. May lose some when
 * the process ends: deltas are never stored.
 */
export class DeltaCoalescer {
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly send: (orgId: string, conversationId: string, delta: StreamingDelta) => void) {}

  add(orgId: string, conversationId: string, deltas: readonly StreamingDelta[]): void {
    let waiting = this.waiting.get(conversationId);
    for (const delta of deltas) {
      if (waiting === undefined) {
        waiting = { orgId, pieces: [], timer: setTimeout(() => this.flush(conversationId), GATHER_MS) };
        this.waiting.set(conversationId, waiting);
      }
      const last = waiting.pieces.at(-1);
      if (last !== undefined && follows(last, delta) && last.text.length + delta.text.length <= MAX_PIECE_LENGTH)
        waiting.pieces[waiting.pieces.length - 1] = { ...last, text: last.text + delta.text };
      else waiting.pieces.push(delta);
    }
  }

  /** Everything out now; a durable event is about to follow. */
  flush(conversationId: string): void {
    const waiting = this.waiting.get(conversationId);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.waiting.delete(conversationId);
    for (const piece of waiting.pieces) this.send(waiting.orgId, conversationId, piece);
  }

  close(): void {
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }
}

function follows(last: StreamingDelta, next: StreamingDelta): boolean {
  return (
    last.responseId === next.responseId &&
    last.channel === next.channel &&
    last.offset + last.text.length === next.offset
  );
}
