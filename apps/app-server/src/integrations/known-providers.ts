import type { Provider } from '@slipway/integrations';

/** Injection token of the providers by their ids: a `ReadonlyMap<string, Provider>`. */
export const KNOWN_PROVIDERS = Symbol('KnownProviders');

/** @throws Error for two with one id. */
export function providersById(providers: readonly Provider[]): ReadonlyMap<string, Provider> {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size !== providers.length) throw new Error('two providers have the same id');
  return byId;
}
