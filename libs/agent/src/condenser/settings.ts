/** What condenses the model's view, and when. */
export interface CondenserSettings {
  /** `false`: only when it is asked for, and when the model refuses the conversation as too long. */
  readonly automatic: boolean;
  /** From so many tokens of prompt on; `null`: at four fifths of the model's context, where that is known. */
  readonly maxTokens: number | null;
  /** From so many events that the model sees on; `null`: whatever their number. */
  readonly maxEvents: number | null;
}
