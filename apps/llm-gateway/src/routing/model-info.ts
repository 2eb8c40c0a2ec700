import type { StoredKey } from '../keys/keys.queries.js';
import type { ModelDirectory } from './model-directory.js';

const A_TOKEN = 1_000_000;

/**
 * LiteLLM's `/model/info`: what is offered to a key (`null`: the master key), with limits and prices. Unknown values
 * are `null`.
 */
export function modelInfoOf(models: ModelDirectory, key: StoredKey | null): { readonly data: object[] } {
  const allowed = new Set(models.list(key).data.map(({ id }) => id));
  const perToken = (price: number | undefined): number | null => (price === undefined ? null : price / A_TOKEN);
  return {
    data: models.offered
      .filter(({ group }) => allowed.has(group.name))
      .map(({ group, facts, verified }) => {
        const { price, contextWindow, maxOutput, capabilities } = facts;
        const can = (capability: 'tools' | 'vision' | 'reasoning' | 'caching'): boolean | null =>
          capabilities?.includes(capability) ?? null;
        return {
          model_name: group.name,
          litellm_params: { model: group.name },
          model_info: {
            id: group.name,
            mode: 'chat',
            litellm_provider: group.deployments[0]?.target.provider ?? null,
            max_tokens: maxOutput,
            max_input_tokens: contextWindow,
            max_output_tokens: maxOutput,
            input_cost_per_token: perToken(price?.input),
            output_cost_per_token: perToken(price?.output),
            cache_read_input_token_cost: perToken(price?.cachedInput),
            cache_creation_input_token_cost: perToken(price === null ? undefined : (price.cacheWrite ?? price.input)),
            supports_function_calling: can('tools'),
            supports_vision: can('vision'),
            supports_reasoning: can('reasoning'),
            supports_prompt_caching: can('caching'),
            verified,
            deployments: group.deployments.length,
          },
        };
      }),
  };
}
