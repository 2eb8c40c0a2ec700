import { z } from 'zod';

const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

/** Variables of analytics that app-server and worker share; spread into their `ConfigSchema`. */
export const analyticsVariables = {
  POSTHOG_HOST: optional(z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))).describe(
    'PostHog address that analytics events are sent to: `https://eu.i.posthog.com`. Absent: no events are made or sent. The same in app-server and worker.',
  ),
  ANALYTICS_SECRET: optional(z.string().min(32)).describe(
    'Key of the pseudonyms of users and organizations in analytics events and flags. The same in app-server and worker. Secret; changing it gives all of them new pseudonyms.',
  ),
  DO_NOT_TRACK: z
    .preprocess((value) => (value === '' ? undefined : value), z.stringbool().default(false))
    .describe('`1`: no analytics are sent and no flags read from PostHog, whatever else is configured.'),
} as const;

/** The installation's own consent. The key of a project is worker's alone. */
export function allowsAnalytics(config: {
  readonly POSTHOG_HOST?: string | undefined;
  readonly ANALYTICS_SECRET?: string | undefined;
  readonly DO_NOT_TRACK: boolean;
}): boolean {
  return config.POSTHOG_HOST !== undefined && config.ANALYTICS_SECRET !== undefined && !config.DO_NOT_TRACK;
}
