import { type DefinitionsSource, PosthogSender } from '@slipway/analytics/posthog';
import { EventMaker, type EventMakerOptions } from './event-maker.js';
import { EventSender, type EventSenderOptions } from './event-sender.js';
import { FlagReader, type FlagReaderOptions } from './flag-definitions.js';

/**
 * Makes events and sends them to PostHog until it is closed. This file alone brings PostHog's package: it is read only
 * where a key is configured.
 */
export function startAnalytics(
  receiver: { readonly host: string; readonly key: string },
  options: EventMakerOptions & Omit<EventSenderOptions, 'send'>,
): { close(): Promise<void> } {
  const posthog = new PosthogSender(receiver);
  const maker = new EventMaker(options);
  const sender = new EventSender({ ...options, send: (events) => posthog.send(events) });
  maker.start();
  sender.start();
  return {
    close: async () => {
      await Promise.all([maker.close(), sender.close()]);
      await posthog.close();
    },
  };
}

/** Reads definitions of flags from PostHog until it is closed. */
export function startFlagReader(source: DefinitionsSource, options: FlagReaderOptions): { close(): Promise<void> } {
  const reader = new FlagReader(source, options);
  reader.start();
  return reader;
}
