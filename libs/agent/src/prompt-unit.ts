import type { ChatMessage } from '@slipway/llm';

/** A part of the prompt that stays whole: a message, or one answer of the model with everything that came of it. */
export interface PromptUnit {
  readonly kind: 'system' | 'message' | 'turn' | 'summary';
  readonly messages: readonly ChatMessage[];
  readonly eventIds: readonly string[];
  /** How many events that the model sees are before its first one, in the log. */
  readonly position: number;
  /** A call of it has no answer yet. */
  readonly open: boolean;
  /** The text of a summary. */
  readonly summary?: string;
}
