import type { StreamingDelta } from '@slipway/contracts/events';
import type { LogLine } from './log-line.js';

/**
 * Longest text that is kept for late joiners, per channel. UTF-16 code units; past it they wait for the durable event.
 */
const MAX_PARTIAL_LENGTH = 256 * 1024;
/**
 * Finished responses that are remembered, so that a delta which comes after its durable event is not shown as a ghost.
 */
const REMEMBERED_RESPONSES = 32;

/** What the model, or a command, has written of what is under way. Kept beside the log and never stored. */
export class PartialText {
  private responseId: string | null = null;
  private readonly text = new Map<StreamingDelta['channel'], string>();
  private readonly finished = new Set<string>();

  /** False when the delta belongs to a response whose durable event is out already: it must not be sent. */
  add(delta: StreamingDelta): boolean {
    if (this.finished.has(delta.responseId)) return false;
    if (delta.responseId !== this.responseId) {
      this.responseId = delta.responseId;
      this.text.clear();
    }
    const before = this.text.get(delta.channel) ?? '';
    // After a lost piece the whole text is not known here: who joins now sees this response when it is durable.
    if (delta.offset <= before.length && delta.offset + delta.text.length <= MAX_PARTIAL_LENGTH)
      this.text.set(delta.channel, before.slice(0, delta.offset) + delta.text);
    return true;
  }

  finish(responseId: string): void {
    this.finished.add(responseId);
    if (this.finished.size > REMEMBERED_RESPONSES) this.finished.delete(this.finished.values().next().value as string);
    if (responseId === this.responseId) this.clear();
  }

  clear(): void {
    this.responseId = null;
    this.text.clear();
  }

  /** A tool with progress may have ended: a new reader sees progress from its beginning only, never from the middle. */
  clearProgress(): void {
    if (this.text.has('progress')) this.clear();
  }

  /** UTF-16 code units of all channels. */
  get length(): number {
    let sum = 0;
    for (const text of this.text.values()) sum += text.length;
    return sum;
  }

  /**
   * A response that is in the log needs its partial text no more, and neither does a call that has its answer; nor does
   * one whose run has ended.
   */
  endedBy(lines: readonly LogLine[]): void {
    for (const { json } of lines) {
      const response = /"llm_response_id":"([^"\\]{1,200})"/.exec(json)?.[1];
      const done = json.includes('"kind":"ObservationEvent"')
        ? /"action_id":"([^"\\]{1,200})"/.exec(json)?.[1]
        : undefined;
      if (done !== undefined) this.finish(done);
      if (response !== undefined) this.finish(response);
      else if (
        json.includes('"kind":"InterruptEvent"') ||
        json.includes('"kind":"PauseEvent"') ||
        json.includes('"kind":"ConversationErrorEvent"')
      )
        this.clear();
      // Such an error does not say of which action it is.
      else if (json.includes('"kind":"AgentErrorEvent"')) this.clearProgress();
      else if (json.includes('"key":"execution_status"') && !json.includes('"value":"running"')) this.clear();
    }
  }

  /** The whole text so far, as deltas from offset 0. */
  snapshot(): StreamingDelta[] {
    const { responseId } = this;
    if (responseId === null) return [];
    return [...this.text]
      .filter(([, text]) => text.length > 0)
      .map(([channel, text]) => ({ responseId, channel, offset: 0, text }));
  }
}
