import type { Provider } from '../provider.js';
import { bedrockFormat } from './format.js';
import { bedrockRefusal } from './refusal.js';

export const bedrock: Provider = {
  id: 'bedrock',
  baseUrl: (region) => `https://bedrock-runtime.${region}.amazonaws.com`,
  dialects: () => [],
  upstream: bedrockFormat(() => new Date()),
  refusal: bedrockRefusal,
  countsTokens: false,
  searches: [],
  requires: { region: 'Bedrock is asked in a region' },
};
