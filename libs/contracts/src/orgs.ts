import { z } from 'zod';
import { PERMISSIONS, ROLES } from './permissions.js';

/** First segments of addresses that are the product's own, so that no organization can be called so. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'alive',
  'api',
  'changelog',
  'device',
  'docs',
  'health',
  'ingest',
  'invite',
  'login',
  'metrics',
  'oauth',
  'onboarding',
  'operator',
  'ready',
  'settings',
  'share',
  'status',
]);

export const Org = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  kind: z.enum(['personal', 'company']),
  role: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  /** When it will be deleted, because an owner has asked for it; until then it can be taken back. */
  deletesAt: z.iso.datetime().nullable(),
});
export type Org = z.infer<typeof Org>;

/** The signed-in person and where they belong. `orgs[0]` is the personal one. */
export const Me = z.object({ id: z.string(), name: z.string(), email: z.string().nullable(), orgs: z.array(Org) });
export type Me = z.infer<typeof Me>;

export const ModelInfo = z.object({
  id: z.string(),
  label: z.string(),
  /** True for the built-in scripted model: the screen must say so. */
  demo: z.boolean(),
  default: z.boolean(),
});
export const ModelList = z.object({ data: z.array(ModelInfo) });
export type ModelList = z.infer<typeof ModelList>;
