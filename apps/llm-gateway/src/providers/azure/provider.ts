import type { Provider } from '../provider.js';
import { azureAddress } from './address.js';
import { azureRefusal } from './refusal.js';

export const azure: Provider = {
  id: 'azure',
  baseUrl: () => '',
  dialects: () => ['chat', 'embeddings'],
  upstream: azureAddress,
  refusal: azureRefusal,
  countsTokens: true,
  searches: ['responses'],
  requires: { baseUrl: 'an Azure resource has an address of its own' },
};
