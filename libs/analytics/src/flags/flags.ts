import { type Client, type EvaluationContext, OpenFeature, type Provider } from '@openfeature/server-sdk';
import {
  DEFAULT_FLAGS,
  FLAG_KEYS,
  FLAGS,
  type FlagKey,
  type FlagValue,
  type FlagValues,
} from '@slipway/contracts/operate';
import { analyticsPseudonym } from '../pseudonym.js';

/**
 * Values of flags for users, through OpenFeature. Whatever fails, the default of the code holds; no evaluation makes a
 * request.
 */
export class Flags {
  private readonly client: Client;

  /**
   * @param domain of this instance in the process.
   * @param secret makes pseudonyms; without one a provider sees no user, and gives all users the same answer.
   */
  constructor(
    private readonly domain: string,
    private readonly secret: string | undefined,
  ) {
    this.client = OpenFeature.getClient(domain);
  }

  /** Until then, and when the provider cannot start, defaults hold. */
  async use(provider: Provider): Promise<void> {
    await OpenFeature.setProviderAndWait(this.domain, provider).catch(() => {});
  }

  async valuesFor(userId: string, orgId: string): Promise<FlagValues> {
    const { secret } = this;
    const context: EvaluationContext =
      secret === undefined
        ? {}
        : {
            targetingKey: analyticsPseudonym(secret, 'user', userId),
            organization: analyticsPseudonym(secret, 'organization', orgId),
          };
    const found = await Promise.all(
      FLAG_KEYS.map(
        async (key) => [key, known(key, await this.client.getStringValue(key, DEFAULT_FLAGS[key], context))] as const,
      ),
    );
    return Object.fromEntries(found) as FlagValues;
  }
}

/** A value that this version does not know is the default. */
function known<K extends FlagKey>(key: K, value: string): FlagValue<K> {
  return FLAGS[key].values.find((each) => each === value) ?? DEFAULT_FLAGS[key];
}
