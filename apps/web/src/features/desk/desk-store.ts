import type { Desk, DeskConversation, DeskRow } from '@slipway/contracts/conversations';
import type { DeskFrame, MarkFrame } from '@slipway/contracts/events';
import { type Decided, type DeskMarks, decide, deskOf, keyOf, NO_MARKS } from '@slipway/domain/desk';
import { replaceEqualDeep } from '@tanstack/react-query';

/** One line of the Desk, as it is now. */
export interface DeskLine extends Decided<DeskConversation> {
  readonly mark: DeskMarks;
  /** What keeps this user from deciding; what came by the room counts as `yes` until it is read. */
  readonly mayDecide: DeskRow['mayDecide'];
}

export interface DeskView {
  /** Needs you, Ready, Working; `null` until it was read once. */
  readonly lines: readonly DeskLine[] | null;
  /** There are more than are shown. */
  readonly more: boolean;
  /** When it was last read. ISO time. */
  readonly at: string | null;
  /** Why the last reading failed; `null`: it did not. */
  readonly error: unknown;
  /** What somebody else answered last: an agent asked for it while its row was on this Desk. */
  readonly answered: { readonly by: string; readonly accepted: boolean; readonly title: string } | null;
}

/** What a frame of the room says. */
export type DeskChanges = Pick<DeskFrame, 'changed' | 'gone' | 'stale'>;
type FrameListener = (frame: DeskChanges) => void;

/** How long it stays to be read who answered. Milliseconds. */
const ANSWER_SHOWN_MS = 60_000;

const NOTHING: DeskView = { lines: null, more: false, at: null, error: null, answered: null };

/** What one organization's Desk is made of in this page, and who listens to its changes. */
export class DeskStore {
  private view = NOTHING;
  private readonly facts = new Map<string, DeskConversation>();
  private readonly marks = new Map<string, DeskMarks>();
  private readonly may = new Map<string, DeskRow['mayDecide']>();
  /** Conversations whose marks were asked for in vain, and as what: those rest, as long as they stay as they are. */
  private readonly resting = new Map<string, string>();
  /** What came while the Desk was read: the answer may be older. `null`: it is not being read. */
  private meanwhile: DeskConversation[] | null = null;
  private answeredAt = 0;
  private readonly listeners = new Set<() => void>();
  private readonly frameListeners = new Set<FrameListener>();
  /** Whether the room sends what changes; while it does not, lists have to be read again from time to time. */
  isLive = false;
  private readonly me: string;
  /** Reads the Desk again; set by who keeps it live. */
  again: () => void = () => {};

  /** @param me name of the user: their own answers are no news to them. */
  constructor(me: string) {
    this.me = me;
  }

  readonly get = (): DeskView => this.view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /**
   * Called with what the room sends of any conversation of the organization, also of those that are not on the Desk;
   * with `stale` alone whenever something may have been missed. @returns what ends it.
   */
  readonly onFrame = (listener: FrameListener): (() => void) => {
    this.frameListeners.add(listener);
    return () => this.frameListeners.delete(listener);
  };

  /** The room was joined, or left: what came between two times that it was joined is not known. */
  live(isLive: boolean): void {
    this.isLive = isLive;
    if (isLive) this.sendOn({ changed: [], gone: [], stale: true });
  }

  beginReading(): void {
    this.meanwhile = [];
  }

  /** @param now milliseconds since 1970, as everywhere here. */
  read({ rows, more, at }: Desk, now: number): void {
    const before = new Map(this.facts);
    this.facts.clear();
    for (const { conversation, mark, mayDecide } of rows) {
      // What is as before stays the same object.
      this.facts.set(conversation.id, replaceEqualDeep(before.get(conversation.id), conversation));
      this.marks.set(conversation.id, replaceEqualDeep(this.marks.get(conversation.id), mark));
      this.may.set(conversation.id, mayDecide);
      this.resting.delete(conversation.id);
    }
    for (const each of this.meanwhile ?? []) {
      const known = this.facts.get(each.id);
      if (known !== undefined ? each.head >= known.head : this.marks.has(each.id)) this.facts.set(each.id, each);
      else if (known === undefined) this.resting.set(each.id, signOf(each, now));
    }
    this.meanwhile = null;
    this.show({ more, at, error: null }, now);
  }

  failed(error: unknown, now: number): void {
    this.meanwhile = null;
    this.show({ error }, now);
  }

  /** @returns whether the Desk has to be read again, since marks of what changed are not known here. */
  apply(frame: DeskChanges, now: number): boolean {
    this.sendOn(frame);
    const { changed, gone, stale } = frame;
    let isUnknown = false;
    let { answered } = this.view;
    for (const each of changed) {
      this.meanwhile?.push(each);
      answered = this.answerOf(each) ?? answered;
      if (this.marks.has(each.id) || decide(each, NO_MARKS, now).group === 'working') this.facts.set(each.id, each);
      else if (isOpen(each, now) && this.resting.get(each.id) !== signOf(each, now)) isUnknown = true;
    }
    if (answered !== this.view.answered) this.answeredAt = now;
    for (const id of gone) this.facts.delete(id);
    this.show({ answered }, now);
    return isUnknown || stale;
  }

  /** @returns whether the Desk has to be read again: what the mark is of is not known here. */
  mark({ conversationId, mark }: Pick<MarkFrame, 'conversationId' | 'mark'>, now: number): boolean {
    this.marks.set(conversationId, mark);
    this.show({}, now);
    return !this.facts.has(conversationId);
  }

  /** Time has passed: what was snoozed may be back, and costs more. */
  tick(now: number): void {
    this.show(now - this.answeredAt > ANSWER_SHOWN_MS ? { answered: null } : {}, now);
  }

  private answerOf(after: DeskConversation): DeskView['answered'] {
    const before = this.facts.get(after.id);
    const { answered, title } = after;
    if (before?.approval == null || answered === null || answered.at === before.answered?.at) return null;
    return answered.by === this.me ? null : { by: answered.by, accepted: answered.accepted, title };
  }

  private sendOn(frame: DeskChanges): void {
    for (const listener of this.frameListeners) listener(frame);
  }

  /** A line that reads as before stays the same object: rows that nothing happens to are not drawn again. */
  private show(change: Partial<DeskView>, now: number): void {
    const before = new Map(this.view.lines?.map((line) => [line.facts.id, line]));
    const lines = deskOf(
      [...this.facts.values()].map((facts): DeskLine => {
        const mark = this.marks.get(facts.id) ?? NO_MARKS;
        return { ...decide(facts, mark, now), mark, mayDecide: this.may.get(facts.id) ?? 'yes' };
      }),
    ).map((line) => {
      const old = before.get(line.facts.id);
      return old !== undefined && readsAlike(old, line) ? old : line;
    });
    const view = { ...this.view, ...change };
    this.view = { ...view, lines: view.at === null ? null : lines };
    for (const listener of this.listeners) listener();
  }
}

/** The score, which grows with every second, only decides the order. */
function readsAlike(a: DeskLine, b: DeskLine): boolean {
  return (
    a.facts === b.facts &&
    a.mark === b.mark &&
    a.mayDecide === b.mayDecide &&
    a.group === b.group &&
    a.decisions.length === b.decisions.length &&
    a.decisions.every(({ key, seconds }, at) => key === b.decisions[at]?.key && seconds === b.decisions[at]?.seconds)
  );
}

const isOpen = (facts: DeskConversation, now: number): boolean => decide(facts, NO_MARKS, now).group !== 'resting';

/** Other words or another decision are another one. */
const signOf = (facts: DeskConversation, now: number): string =>
  `${facts.saidSeq} ${keyOf(decide(facts, NO_MARKS, now).decisions)}`;
