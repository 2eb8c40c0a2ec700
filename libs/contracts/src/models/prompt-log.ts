import { z } from 'zod';

/**
 * The log of prompts: what agents asked models and what those answered, stored where an organization's setting
 * `promptLogDays` says so and the installation lets it. What looks like a key, a token or a password is masked before
 * it is written.
 */

/** Longest that they are kept. Days. */
export const MAX_PROMPT_LOG_DAYS = 365;

/** A line of the export. */
export const LoggedPrompt = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  conversationId: z.uuid(),
  userId: z.string().nullable(),
  requestId: z.string(),
  model: z.string(),
  /** `ok`, `aborted`, or the code of what it failed with. */
  outcome: z.string(),
  /** The bodies as they passed, at most 256 KiB each; a longer one is cut. */
  asked: z.string(),
  answered: z.string(),
});
export type LoggedPrompt = z.infer<typeof LoggedPrompt>;

/** `GET …/prompt-log/export`. */
export const PromptLogQuery = z.strictObject({
  /** At or after. */
  from: z.iso.datetime().optional(),
  /** Before. */
  to: z.iso.datetime().optional(),
  conversation: z.uuid().optional(),
});
export type PromptLogQuery = z.infer<typeof PromptLogQuery>;

/**
 * `PUT /internal/prompt-policies` of llm-gateway, with the master key: those that keep prompts, and no others do. What
 * others had kept is deleted.
 */
export const PromptPolicies = z.object({
  policies: z
    .array(z.object({ org: z.string().min(1).max(200), days: z.int().min(1).max(MAX_PROMPT_LOG_DAYS) }))
    .max(100_000),
});
export type PromptPolicies = z.infer<typeof PromptPolicies>;

/** `GET /internal/prompt-log`: whether the installation lets organizations keep prompts at all. */
export const PromptLogMode = z.object({ mode: z.enum(['by-policy', 'never']) });

/**
 * `GET /internal/prompts/{org}?from=&to=&conversation=&after=`, oldest first; `next` is `null` at the end, else the
 * `after` of the next page.
 */
export const PromptPage = z.object({ data: z.array(LoggedPrompt), next: z.string().nullable() });
export type PromptPage = z.infer<typeof PromptPage>;
