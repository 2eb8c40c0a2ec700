import { z } from 'zod';

const optional = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

/** Variables of analytics that app-server and worker share; spread into their `ConfigSchema`. */
export const analyticsVariables = {
  POSTHOG_HOST: optional(z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))).describe(
    'PostHog that analytics events are sent to: `https://eu.i.posthog.com`. Absent: this installation makes and sends none. The same in app-server and worker.',
  ),
  ANALYTICS_SECRET: optional(z.string().min(32)).describe(
    'Makes pseudonyms of users and organizations in analytics events and for flags. The same in app-server and worker. Secret; with another one everybody is new.',
  ),
  DO_NOT_TRACK: z
    .preprocess((value) => (value === '' ? undefined : value), z.stringbool().default(false))
    .describe('With `1` this installation sends no analytics and reads no flags of PostHog, whatever else is configured.'),
} as const;

/** The installation's own consent. The key of a project is worker's alone. */
export function allowsAnalytics(config: {
  readonly POSTHOG_HOST?: string | undefined;
  readonly ANALYTICS_SECRET?: string | undefined;
  readonly DO_NOT_TRACK: boolean;
}): boolean {
  return config.POSTHOG_HOST !== undefined && config.ANALYTICS_SECRET !== undefined && !config.DO_NOT_TRACK;
}
