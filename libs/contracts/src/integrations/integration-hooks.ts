import { z } from 'zod';
import { RepositoryPath } from '../repositories/repositories.js';

/** Webhooks that Slipway makes at a git host by itself, with the access token of a connection. */

/** Most of one connection. */
export const MAX_HOOKS = 500;

/**
 * `queued`: it is about to be made. `old-secret`: the webhook secret was replaced since; the old one is accepted for 24
 * hours. `missing-right`: the access token may not make it. `disabled`: the git host has switched it off. All are
 * checked once a day; installing once more repairs one.
 */
export const HOOK_STATES = ['queued', 'installed', 'old-secret', 'missing-right', 'failed', 'disabled'] as const;
export const HookState = z.enum(HOOK_STATES);
export type HookState = z.infer<typeof HookState>;

/** Most patterns of one connection. */
export const MAX_HOOK_PATTERNS = 50;
/** `owner/name`, in which `*` stands for any part of one name and `**` for any names: `acme/*`, `acme/**`, `**`. */
export const HookPattern = z
  .string()
  .trim()
  .min(1)
  .max(400)
  .regex(/^[\w.*-]+(?:\/[\w.*-]+)*$/, 'is no pattern of owner/name')
  .refine((pattern) => pattern.includes('*') || RepositoryPath.safeParse(pattern).success, 'is no owner/name')
  .refine((pattern) => pattern.split('/').every((part) => !/^\.+$/.test(part)), 'is no pattern of owner/name');

export const IntegrationHook = z.object({
  id: z.uuid(),
  /** `owner/name`, as the host writes it. */
  repository: z.string(),
  state: HookState,
  /** What is wrong, and what to do; `null`: nothing. */
  detail: z.string().nullable(),
  /** When the git host was last asked; `null`: not since it was made. */
  checkedAt: z.iso.datetime().nullable(),
  installedBy: z.object({ id: z.string(), label: z.string() }),
  installedAt: z.iso.datetime(),
});
export type IntegrationHook = z.infer<typeof IntegrationHook>;
/** Which repositories get a webhook by themselves, now and when they come. */
export const HookSelection = z.object({
  patterns: z.array(z.string()),
  /** When repositories were last listed; `null`: not yet. */
  listedAt: z.iso.datetime().nullable(),
  problem: z.string().nullable(),
});
export type HookSelection = z.infer<typeof HookSelection>;
/** By repository; there is always one page. */
export const IntegrationHookList = z.object({ data: z.array(IntegrationHook), selection: HookSelection });
export type IntegrationHookList = z.infer<typeof IntegrationHookList>;

/**
 * Makes the webhook, or repairs it where there is one of this connection: address, events and secret are those of now.
 */
export const InstallIntegrationHook = z.strictObject({
  repository: z.string().trim().pipe(RepositoryPath),
});
export type InstallIntegrationHook = z.infer<typeof InstallIntegrationHook>;

/**
 * Repositories that get a webhook: those that match, now and each day. None: what was made stays, and nothing more is.
 */
export const SelectIntegrationHooks = z.strictObject({ patterns: z.array(HookPattern).max(MAX_HOOK_PATTERNS) });
export type SelectIntegrationHooks = z.infer<typeof SelectIntegrationHooks>;
