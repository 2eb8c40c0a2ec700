import {
  type EvaluationContext,
  FlagNotFoundError,
  type ResolutionDetails,
  StandardResolutionReasons,
} from '@openfeature/server-sdk';
import { FLAG_KEYS, FLAGS } from '@slipway/contracts/operate';
import { PostHog } from 'posthog-node';
import type { FlagDefinitions } from '../flags/definitions.js';
import { StringFlags } from '../flags/static-provider.js';

/** Interval at which the definitions that worker stores are read. Milliseconds. */
const LOOK_MS = 10_000;
/** Used where no user is known. */
const NOBODY = 'nobody';

/**
 * Flags of PostHog as OpenFeature has them, by its client's own evaluation in this process, over definitions that
 * worker keeps. The client has no key and no way out: its `fetch` refuses. Definitions that were once read hold on
 * while the database is away.
 */
export class PosthogFlags extends StringFlags {
  readonly metadata = { name: 'posthog' } as const;
  private readonly client: PostHog;

  /** @param read the last known definitions; `null`: none. May reject. */
  constructor(read: () => Promise<FlagDefinitions | null>, everyMs = LOOK_MS) {
    super();
    let last: FlagDefinitions | undefined;
    this.client = new PostHog('evaluation-only', {
      featureFlagsPollingInterval: everyMs,
      flushInterval: 0,
      // It has nothing to send: exposures go through the outbox.
      before_send: () => null,
      strictLocalEvaluation: true,
      fetch: () => Promise.reject(new Error('an evaluation makes no request')),
      flagDefinitionCacheProvider: {
        getFlagDefinitions: async () => {
          last = (await read().catch(() => null)) ?? last;
          return last as never;
        },
        shouldFetchFlagDefinitions: () => false,
        onFlagDefinitionsReceived: () => {},
        shutdown: () => {},
      },
    });
  }

  /** Waits until definitions are read, at most so long; without any, defaults hold until there are. */
  async initialize(): Promise<void> {
    await this.client.waitForLocalEvaluationReady(2_000);
  }

  async onClose(): Promise<void> {
    await this.client.shutdown(1_000);
  }

  async resolveStringEvaluation(
    key: string,
    fallback: string,
    { targetingKey, organization }: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    const groups: Record<string, string> = typeof organization === 'string' ? { organization } : {};
    // Not `evaluateFlags(…).getFlag`, which captures an exposure each time.
    const found = await this.client.getAllFlags(targetingKey ?? NOBODY, {
      groups,
      onlyEvaluateLocally: true,
      flagKeys: [key],
    });
    const value = found[key];
    if (value === undefined) throw new FlagNotFoundError(key);
    if (typeof value === 'string') return { value, variant: value, reason: StandardResolutionReasons.TARGETING_MATCH };
    // A plain switch: its flag has two values, and the second is on.
    return value
      ? { value: secondOf(key) ?? fallback, reason: StandardResolutionReasons.TARGETING_MATCH }
      : { value: fallback, reason: StandardResolutionReasons.DEFAULT };
  }
}

function secondOf(key: string): string | undefined {
  return FLAG_KEYS.flatMap((known) => (known === key ? [FLAGS[known].values[1]] : []))[0];
}
