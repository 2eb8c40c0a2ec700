import type { ProviderId } from '@slipway/contracts/models';
import type { Target } from '../wire/exchange.js';
import type { TurnsRequest } from '../wire/turns.js';

/** A request that says nothing but what is given. */
export function testRequest(said: Partial<TurnsRequest>): TurnsRequest {
  return {
    source: 'chat',
    model: 'asked',
    stream: false,
    includeUsage: true,
    system: [],
    turns: [],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: null,
    sampling: {},
    stop: [],
    reasoning: null,
    responseFormat: null,
    user: null,
    metadata: {},
    serviceTier: null,
    extras: {},
    ...said,
  };
}

export function testTarget(provider: ProviderId, model: string, baseUrl = 'http://127.0.0.1:1'): Target {
  return { provider, model, baseUrl, apiKey: 'secret', speaks: [] };
}
