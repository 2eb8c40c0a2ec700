import { estimateTokens } from '../completions/usage.js';
import { below } from './address.js';
import type { Asked, Exchange, Target } from './exchange.js';
import { type JsonObject, listOf, objectOf } from './json.js';
import { openExchange } from './open-exchange.js';

/** Tokens of an image or a document whose size nobody here can tell: what Anthropic says of a picture of a megapixel. */
const ATTACHMENT_TOKENS = 1_600;

/** Tells a client that nobody has counted. */
export const ESTIMATED_HEADER = 'x-slipway-estimated';

/** A call of `count_tokens` for a target that counts by itself; `null` for one that does not: then `estimateCount` answers. The answer has no usage. */
export function openCountTokens(asked: Asked, target: Target): Omit<Exchange, 'answer'> | null {
  if (target.provider === 'bedrock' || target.provider === 'gemini' || !target.speaks.includes('messages')) return null;
  const { answer: _, ...exchange } = openExchange({ ...asked, stream: false }, target);
  return { ...exchange, path: below(target.baseUrl, '/messages/count_tokens').path };
}

/** Our own guess in Anthropic's form. Its text is counted, and what is attached by number. @throws SlipwayError `request.not-json` */
export function estimateCount(request: JsonObject): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  let characters = 0;
  let attachments = 0;
  const add = (value: unknown): void => {
    if (typeof value === 'string') characters += value.length;
    else if (Array.isArray(value)) for (const one of value) add(one);
    else {
      const object = objectOf(value);
      if (object === null) return;
      if (object['type'] === 'base64' || object['type'] === 'url') attachments += 1;
      else for (const [name, member] of Object.entries(object)) if (!UNCOUNTED.has(name)) add(member);
    }
  };
  add(request['system']);
  for (const message of listOf(request['messages'])) add(objectOf(message)?.['content']);
  for (const tool of listOf(request['tools'])) characters += JSON.stringify(tool).length;
  return {
    body: JSON.stringify({ input_tokens: estimateTokens(characters) + attachments * ATTACHMENT_TOKENS }),
    headers: { [ESTIMATED_HEADER]: 'true' },
  };
}

/** Members of a block that are no words. */
const UNCOUNTED: ReadonlySet<string> = new Set(['type', 'cache_control', 'signature', 'data', 'id', 'tool_use_id', 'media_type']);
