import { allowsAnalytics } from '@slipway/analytics';
import type { Clock } from '@slipway/domain';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { Config } from '../config.js';
import { system } from '../conversations/conversation.queries.js';
import type { EventSenderOptions } from './event-sender.js';

type Parts = Pick<EventSenderOptions, 'pool' | 'locks' | 'logger' | 'metrics'> & {
  readonly clock: Clock;
  readonly gateway: Pick<LlmGatewayClient, 'calls'>;
};

/**
 * Starts analytics where the installation allows it. Elsewhere nothing is started or read, and what waited is deleted.
 */
export async function maybeAnalytics(
  config: Config,
  { gateway, ...parts }: Parts,
): Promise<{ close(): Promise<void> } | null> {
  const { POSTHOG_HOST: host, POSTHOG_KEY: key, ANALYTICS_SECRET: secret } = config;
  if (!allowsAnalytics(config) || host === undefined || key === undefined || secret === undefined) {
    await system(parts.pool, 'the installation sends no analytics', (client) =>
      client.query('DELETE FROM app.analytics_event'),
    );
    return null;
  }
  const { startAnalytics, startFlagReader } = await import('./start-analytics.js');
  const options = {
    ...parts,
    secret,
    gateway: config.ANALYTICS_MODEL_CALLS ? gateway : null,
    now: () => performance.now(),
  };
  const events = startAnalytics({ host, key }, options);
  const { FLAGS_PROVIDER: provider, POSTHOG_FLAGS_KEY: flagsKey } = config;
  const flags =
    provider === 'posthog' && flagsKey !== undefined ? startFlagReader({ host, key, flagsKey }, parts) : null;
  return {
    close: async () => {
      await Promise.all([events.close(), flags?.close()]);
    },
  };
}
