import { SlipwayError } from '@slipway/errors';
import { estimateTokens } from '../calls/usage.js';
import { providerOf } from '../providers/providers.js';
import { below } from './address.js';
import type { Asked, Exchange, Target } from './exchange.js';
import { listOf, objectOf, parseObject } from './json.js';
import { openExchange } from './open-exchange.js';

/** Tokens of an image or a document of unknown size: Anthropic's figure for a picture of a megapixel. */
const ATTACHMENT_TOKENS = 1_600;

/** Marks an estimate for the client. */
const ESTIMATED_HEADER = 'x-slipway-estimated';

/**
 * A call of `count_tokens` for a target that counts by itself; `null` for one that does not: then `estimateCount`
 * answers. The answer has no usage.
 */
export function openCountTokens(asked: Asked, target: Target): Omit<Exchange, 'answer'> | null {
  if (!providerOf(target.provider).countsTokens || !target.speaks.includes('messages')) return null;
  const { answer: _, ...exchange } = openExchange({ ...asked, stream: false }, target);
  return { ...exchange, path: below(target.baseUrl, '/messages/count_tokens').path };
}

/**
 * Our own guess in Anthropic's form: the text is counted by its length, and what is attached by number. @throws
 * SlipwayError `request.not-json`
 */
export function estimateCount(body: Buffer): {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const request = parseObject(body.toString('utf8'));
  if (request === null) throw new SlipwayError('request.not-json', 'The body is not a JSON object.');
  let characters = 0;
  let attachments = 0;
  const left: unknown[] = [
    request['system'],
    request['tools'],
    ...listOf(request['messages']).map((message) => objectOf(message)?.['content']),
  ];
  for (let value = left.pop(); value !== undefined || left.length > 0; value = left.pop()) {
    if (typeof value === 'string') characters += value.length;
    else if (Array.isArray(value)) for (const one of value) left.push(one);
    else {
      const object = objectOf(value) ?? {};
      if (object['type'] === 'base64' || object['type'] === 'url') attachments += 1;
      else
        for (const [name, member] of Object.entries(object)) {
          if (NO_WORDS.has(name)) continue;
          // In a call or a schema the model reads the names too.
          if (name !== 'text') characters += name.length;
          left.push(member);
        }
    }
  }
  return {
    body: JSON.stringify({ input_tokens: estimateTokens(characters) + attachments * ATTACHMENT_TOKENS }),
    headers: { [ESTIMATED_HEADER]: 'true' },
  };
}

/** Members of a block that the model does not read. */
const NO_WORDS: ReadonlySet<string> = new Set([
  'type',
  'cache_control',
  'signature',
  'data',
  'id',
  'tool_use_id',
  'media_type',
]);
