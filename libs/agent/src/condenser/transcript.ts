import { cutFromMiddle } from '@slipway/contracts/actions';
import type { ChatMessage } from '@slipway/llm';
import type { PromptUnit } from '../prompt-unit.js';
import { tokensOfText } from './tokens.js';

/** Most of one message, one call's arguments or one result that the summarizer reads. Characters. */
const MAX_SAID = 8_000;
const MAX_DONE = 2_000;
/** How often these are halved before steps are left out. */
const HALVINGS = 4;

/**
 * What is to be summarized, as text of at most about `maxTokens`: long results are cut in the middle, then whole steps
 * are left out, the oldest of them last.
 */
export function transcriptOf(units: readonly PromptUnit[], maxTokens: number): string {
  for (let halving = 0; halving <= HALVINGS; halving += 1) {
    const text = units.map((unit) => render(unit.messages, 2 ** halving)).join('\n\n');
    if (tokensOfText(text) <= maxTokens) return text;
  }
  const parts = units.map((unit) => render(unit.messages, 2 ** HALVINGS));
  let left = maxTokens;
  const kept: string[] = [];
  // The latest matter most.
  for (const part of parts.toReversed()) {
    left -= tokensOfText(part);
    if (left < 0) break;
    kept.push(part);
  }
  const missing = parts.length - kept.length;
  return [`[${missing} earlier steps are left out here: they were too long.]`, ...kept.toReversed()].join('\n\n');
}

function render(messages: readonly ChatMessage[], divisor: number): string {
  return messages
    .flatMap((message) => {
      switch (message.role) {
        case 'system':
          return [];
        case 'user':
          return [`USER: ${cutMiddle(message.content, MAX_SAID / divisor)}`];
        case 'tool':
          return [`RESULT: ${cutMiddle(message.content, MAX_DONE / divisor)}`];
        default:
          return [
            ...(message.content === null ? [] : [`AGENT: ${cutMiddle(message.content, MAX_SAID / divisor)}`]),
            ...message.toolCalls.map((call) => `CALL: ${call.name} ${cutMiddle(call.arguments, MAX_DONE / divisor)}`),
          ];
      }
    })
    .join('\n');
}

export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, Math.ceil(max / 2))}${cutFromMiddle(text.length - max)}${text.slice(-Math.floor(max / 2))}`;
}
