import { anthropicAddress } from '../../wire/address.js';
import type { Provider } from '../provider.js';

export const anthropic: Provider = {
  id: 'anthropic',
  baseUrl: () => 'https://api.anthropic.com/v1',
  dialects: () => ['messages'],
  upstream: anthropicAddress,
  refusal: null,
  countsTokens: true,
  searches: ['messages'],
  requires: {},
};
