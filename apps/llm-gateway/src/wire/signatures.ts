import type { Dialect } from './dialect.js';
import type { AnswerEvent, Part, TurnsRequest } from './turns.js';

/** Who can verify a signature. Bedrock's Claude takes Anthropic's. */
export type SignatureOrigin = 'anthropic' | 'openai' | 'gemini';

/** Begins with what is rare in a text, so that a search for it costs little. */
const TAG = '@slipway.';
const TAG_BYTES = Buffer.from(TAG);
/**
 * Whose signatures a caller of this dialect gets as they are, as from the provider itself. Chat's are LiteLLM's
 * `thinking_blocks`.
 */
const NATIVE: Readonly<Record<Dialect, SignatureOrigin>> = {
  chat: 'anthropic',
  messages: 'anthropic',
  responses: 'openai',
  embeddings: 'openai',
};
const TAGGED = /^@slipway\.(anthropic|openai|gemini)\./;

/** It was made by a provider of another dialect than the caller's. */
export function isForeign(signature: unknown): boolean {
  return typeof signature === 'string' && signature.startsWith(TAG);
}

/** Signatures of another origin than the dialect's own, as found by a cheap scan of a whole body. */
export function mayHoldForeignSignatures(body: Buffer): boolean {
  return body.includes(TAG_BYTES);
}

/**
 * A signature as it goes to the caller: one of a foreign origin carries its origin, so that it is never shown to a
 * provider that did not make it when the conversation goes on with another model.
 */
export function tagged(event: AnswerEvent, origin: SignatureOrigin, caller: Dialect): AnswerEvent {
  if (NATIVE[caller] === origin) return event;
  const tag = `${TAG}${origin}.`;
  if (event.kind === 'signature') return { ...event, signature: tag + event.signature };
  if (event.kind === 'redacted') return { ...event, data: tag + event.data };
  if (event.kind === 'tool-begin' && event.signature !== undefined)
    return { ...event, signature: tag + event.signature };
  return event;
}

/**
 * The request with only those signatures that this origin made, as it made them. Reasoning that lost its signature
 * keeps its text.
 */
export function withSignaturesOf(request: TurnsRequest, origin: SignatureOrigin): TurnsRequest {
  const own = (signature: string): string | null => {
    const from = TAGGED.exec(signature);
    if ((from?.[1] ?? NATIVE[request.source]) !== origin) return null;
    return from === null ? signature : signature.slice(from[0].length);
  };
  const untagged = (part: Part): readonly Part[] => {
    if (part.kind === 'thinking' && part.signature !== null) {
      const signature = own(part.signature);
      if (signature !== null) return [{ ...part, signature }];
      return part.text === '' ? [] : [{ kind: 'thinking', text: part.text, signature: null }];
    }
    if (part.kind === 'redacted') {
      const data = own(part.data);
      return data === null ? [] : [{ kind: 'redacted', data }];
    }
    if (part.kind === 'tool-call' && part.signature !== undefined) {
      const { signature: _, ...call } = part;
      // Only Gemini signs calls, and shows it only to its own callers.
      const signature = TAGGED.test(part.signature) ? own(part.signature) : origin === 'gemini' ? part.signature : null;
      return [signature === null ? call : { ...call, signature }];
    }
    return [part];
  };
  return {
    ...request,
    turns: request.turns.map((turn) =>
      turn.role === 'assistant' ? { ...turn, parts: turn.parts.flatMap(untagged) } : turn,
    ),
  };
}
