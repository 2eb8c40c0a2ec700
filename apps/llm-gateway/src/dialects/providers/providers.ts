import type { Address } from '../address.js';
import type { ProviderKind } from '../exchange.js';
import { azureAddress } from './azure/address.js';
import { bedrock } from './bedrock/format.js';
import type { ProviderFormat } from './format.js';
import { gemini } from './gemini/format.js';

/** Upstreams with manners of their own: an address only, where they speak our dialects, or a format. */
export const OWN_MANNERS = {
  azure: azureAddress,
  gemini,
  bedrock: bedrock(() => new Date()),
} as const satisfies Partial<Record<ProviderKind, Address | ProviderFormat>>;
