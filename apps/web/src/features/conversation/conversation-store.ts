import type { Conversation, QueuedMessage } from '@slipway/contracts/conversations';
import type { LoggedEvent, StreamingDelta } from '@slipway/contracts/events';
import { applyEvents, type ConversationView, openView, prependEvents, putApart } from './conversation-view.ts';
import { applyDelta, endsLiveText, type LiveText, liveProgress } from './live-text.ts';
import { addPrinted, type PrintedOutputs } from './printed-outputs.ts';

export type Connection = 'connecting' | 'live' | 'reconnecting';

/** Most events taken into the view in one frame, so that a long replay never holds the main thread. */
const MAX_EVENTS_PER_FRAME = 500;

/** Runs `work` before the next paint, or soon when the page is hidden; never at once. */
export type Schedule = (work: () => void) => void;

/**
 * What one open conversation page knows, outside React. Slices with listeners of their own, so that text which streams
 * wakes only the row that shows it. Frames are gathered and applied once a painted frame.
 */
export class ConversationStore {
  readonly view: Slice<ConversationView>;
  readonly live = new Slice<LiveText | null>(null);
  readonly printed = new Slice<PrintedOutputs>(new Map());
  readonly queue: Slice<readonly QueuedMessage[]>;
  /** It has been deleted. */
  readonly gone = new Slice(false);
  readonly connection = new Slice<Connection>('connecting');

  private pending: LoggedEvent[] = [];
  private deltas: StreamingDelta[] = [];
  private scheduled = false;

  private readonly schedule: Schedule;
  /** Called when an event is missing: subscribe again after `view.lastSeq`. */
  private readonly onGap: () => void;

  constructor(snapshot: Conversation, schedule: Schedule, onGap: () => void) {
    this.schedule = schedule;
    this.onGap = onGap;
    this.view = new Slice(openView(snapshot));
    this.queue = new Slice<readonly QueuedMessage[]>(snapshot.queued);
  }

  /** Live events, in the order in which the socket gave them. */
  receive(events: readonly LoggedEvent[]): void {
    for (const event of events) this.pending.push(event);
    this.flushSoon();
  }

  receiveDelta(delta: StreamingDelta): void {
    this.deltas.push(delta);
    this.flushSoon();
  }

  /** A page of history beside what is loaded. */
  prepend(events: readonly LoggedEvent[]): void {
    this.view.set(prependEvents(this.view.get(), events));
  }

  /** A page of history from far above. */
  putApart(events: readonly LoggedEvent[]): void {
    this.view.set(putApart(this.view.get(), events));
  }

  private flushSoon(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    const batch = this.pending.splice(0, MAX_EVENTS_PER_FRAME);
    const before = this.view.get();
    const { view, gap } = applyEvents(before, batch);
    let live = this.live.get();
    let printed = this.printed.get();
    for (const delta of this.deltas.splice(0)) {
      if (delta.channel !== 'progress') live = applyDelta(live, delta);
      else {
        printed = addPrinted(printed, delta);
        live = liveProgress(live, printed, delta.responseId);
      }
    }
    for (const logged of batch)
      if (live !== null && logged.seq > before.lastSeq && endsLiveText(live, logged)) live = null;
    this.view.set(view);
    this.live.set(live);
    this.printed.set(printed);
    if (gap) {
      this.pending = [];
      this.onGap();
    } else if (this.pending.length > 0) this.flushSoon();
  }
}

/** One value with its listeners, in the shape that `useSyncExternalStore` wants. */
export class Slice<T> {
  private readonly listeners = new Set<() => void>();
  private value: T;

  constructor(value: T) {
    this.value = value;
  }

  readonly get = (): T => this.value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of this.listeners) listener();
  }
}
