import { FLAG_KEYS, FLAGS, type FlagKey } from '@slipway/contracts/operate';
import { z } from 'zod';

const isKnown = (key: string): key is FlagKey => (FLAG_KEYS as readonly string[]).includes(key);

/** Variables of flags that app-server and worker share. */
export const flagVariables = {
  FLAGS_PROVIDER: z
    .enum(['static', 'posthog'])
    .default('static')
    .describe(
      'Source of flag values: `static` is FLAGS of app-server, `posthog` the project of POSTHOG_KEY as worker last read it. The same in app-server and worker.',
    ),
} as const;

/** Values of flags as JSON. A flag that this version does not have is ignored, so that a value outlives an upgrade. */
export const staticFlagsVariable = z
  .string()
  .default('{}')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text === '' ? '{}' : text);
    } catch {
      context.addIssue('needs JSON such as {"example-tasks": "cards"}');
      return z.NEVER;
    }
  })
  .pipe(
    z.record(z.string(), z.string()).superRefine((values, context) => {
      for (const [key, value] of Object.entries(values))
        if (isKnown(key) && !(FLAGS[key].values as readonly string[]).includes(value))
          context.addIssue(`${key} is one of ${FLAGS[key].values.join(', ')}`);
    }),
  );
