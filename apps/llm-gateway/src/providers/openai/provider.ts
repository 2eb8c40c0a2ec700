import { openAiAddress } from '../../wire/address.js';
import type { Provider } from '../provider.js';

/**
 * OpenAI, and every server that has its paths. One that only calls itself compatible knows the older dialect for sure.
 */
export const openAi: Provider = {
  id: 'openai',
  baseUrl: () => 'https://api.openai.com/v1',
  dialects: (baseUrl) =>
    new URL(baseUrl).hostname === 'api.openai.com' ? ['chat', 'responses', 'embeddings'] : ['chat', 'embeddings'],
  upstream: openAiAddress,
  refusal: null,
  countsTokens: true,
  searches: ['responses'],
  requires: {},
};
