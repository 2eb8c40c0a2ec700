import { z } from 'zod';
import { RepositoryPath } from './repositories.js';

/** Webhooks that Slipway makes at a git host by itself, with the access token of a connection. */

/** Most of one connection. */
export const MAX_HOOKS = 500;

export const IntegrationHook = z.object({
  id: z.uuid(),
  /** `owner/name`, as the host writes it. */
  repository: z.string(),
  /** `old-secret`: the webhook secret was replaced since. It is taken for 24 hours; installing once more gives the hook the new one. */
  state: z.enum(['installed', 'old-secret']),
  installedBy: z.object({ id: z.string(), label: z.string() }),
  installedAt: z.iso.datetime(),
});
export type IntegrationHook = z.infer<typeof IntegrationHook>;
/** By repository; there is always one page. */
export const IntegrationHookList = z.object({ data: z.array(IntegrationHook) });
export type IntegrationHookList = z.infer<typeof IntegrationHookList>;

/** Makes the webhook, or repairs it where there is one of this connection: address, events and secret are those of now. */
export const InstallIntegrationHook = z.strictObject({
  repository: z.string().trim().pipe(RepositoryPath),
});
export type InstallIntegrationHook = z.infer<typeof InstallIntegrationHook>;
