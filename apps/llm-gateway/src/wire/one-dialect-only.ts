import type { Dialect } from './dialect.js';
import { invalid, listOf } from './json.js';
import type { TurnsRequest } from './turns.js';

type Refusal = readonly [field: string, matters: (value: unknown) => boolean, sentence: string];

const said = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
const filled = (value: unknown): boolean => listOf(value).length > 0;
const ELSEWHERE =
  'this model is reached in another API, which has nothing of the kind; leave it out, or choose a model whose provider takes this API';

/**
 * What would change the answer, and cannot be expressed in another dialect. All other fields that a dialect has alone
 * are requests (a seed, a cache key, how verbose) and are left out.
 */
const REFUSED: Readonly<Record<Dialect, readonly Refusal[]>> = {
  chat: [
    ['n', (value) => typeof value === 'number' && value > 1, 'this model gives one answer at a time'],
    ['logprobs', said, ELSEWHERE],
    ['audio', said, ELSEWHERE],
    ['modalities', (value) => listOf(value).some((kind) => kind !== 'text'), ELSEWHERE],
    ['functions', filled, 'use tools'],
    ['function_call', said, 'use tool_choice'],
    ['web_search_options', said, ELSEWHERE],
  ],
  responses: [
    [
      'previous_response_id',
      said,
      'answers are kept by providers of this API alone, and this model is reached in another; send the whole conversation as input',
    ],
    [
      'conversation',
      said,
      'conversations are kept by providers of this API alone, and this model is reached in another; send the whole conversation as input',
    ],
    ['prompt', said, ELSEWHERE],
    ['background', said, ELSEWHERE],
    ['top_logprobs', (value) => typeof value === 'number' && value > 0, ELSEWHERE],
  ],
  messages: [
    ['mcp_servers', filled, ELSEWHERE],
    ['container', said, ELSEWHERE],
  ],
  embeddings: [],
};

/** @throws SlipwayError `request.invalid` with the field that the target does not have. */
export function refuseWhatIsOfOneDialect(request: TurnsRequest): void {
  for (const [field, matters, sentence] of REFUSED[request.source])
    if (matters(request.extras[field])) throw invalid(field, sentence);
}
