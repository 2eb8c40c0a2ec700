import type { ProviderId } from '@slipway/contracts/models';
import { anthropic } from './anthropic/provider.js';
import { azure } from './azure/provider.js';
import { bedrock } from './bedrock/provider.js';
import { gemini } from './gemini/provider.js';
import { openAi } from './openai/provider.js';
import type { Provider } from './provider.js';

/** A new provider is a folder, its id in `PROVIDER_IDS` of libs/contracts, and a line here. */
export const PROVIDERS = { openai: openAi, anthropic, azure, gemini, bedrock } satisfies Record<ProviderId, Provider>;

export function providerOf(id: ProviderId): Provider {
  return PROVIDERS[id];
}
