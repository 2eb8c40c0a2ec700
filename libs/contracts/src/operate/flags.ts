import { z } from 'zod';

/** A switch of the product or an experiment. Permissions, money and tenancy are never flags. */
interface Flag {
  /** What it can be; the first is the default, which holds unless another is set. */
  readonly values: readonly [string, ...string[]];
  readonly description: string;
  /** Team or user to ask. */
  readonly owner: string;
  /** `YYYY-MM-DD`: by then it is decided and removed. `npm run check` fails a month later. */
  readonly ends: string;
}

/** Every flag. Add one here; its value comes with `GET /api/v1/me`. */
export const FLAGS = {
  'example-tasks': {
    values: ['buttons', 'cards'],
    description:
      'Example tasks below the prompt field of the home page: as buttons with a label, or as cards that show the task',
    owner: 'web',
    ends: '2027-03-31',
  },
} as const satisfies Record<string, Flag>;
export type FlagKey = keyof typeof FLAGS;
export type FlagValue<K extends FlagKey = FlagKey> = (typeof FLAGS)[K]['values'][number];
export const FLAG_KEYS = Object.keys(FLAGS) as [FlagKey, ...FlagKey[]];
export const FLAG_VALUES = [...new Set(Object.values(FLAGS).flatMap(({ values }) => values))] as [
  FlagValue,
  ...FlagValue[],
];

export type FlagValues = { readonly [K in FlagKey]: FlagValue<K> };
export const DEFAULT_FLAGS = Object.fromEntries(FLAG_KEYS.map((key) => [key, FLAGS[key].values[0]])) as FlagValues;

/** Values of all flags for one user in one organization. A value that this version does not know is the default. */
export const FlagValuesSchema = z.object(
  Object.fromEntries(FLAG_KEYS.map((key) => [key, z.enum(FLAGS[key].values).catch(FLAGS[key].values[0])])) as {
    [K in FlagKey]: z.ZodCatch<z.ZodEnum<{ [V in FlagValue<K>]: V }>>;
  },
);
