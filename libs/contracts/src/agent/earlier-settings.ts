import { z } from 'zod';
import { ConfirmationPolicy, OrgConfirmationPolicy, SecurityAnalyzer } from '../conversations/confirmation.js';
import type { AgentRoute } from './agent-route.js';
import { AgentType } from './agent-settings.js';

/**
 * The three routes by which settings reached an agent before `ApplySettings`. agent-server answers them as aliases, and
 * callers fall back to them where a running sandbox is of that release. All of it goes in 0.2.0.
 */

/**
 * `POST /api/slipway/conversations/{id}/terms`, and `…/terms/check`, which changes nothing. Absent stays; `null` takes
 * a limit away.
 */
export const EarlierRunSettings = z.object({
  agent_type: AgentType.optional(),
  max_iterations: z.int().positive().nullable().optional(),
  max_budget_per_task: z.number().positive().nullable().optional(),
  version: z.int().nonnegative().optional(),
  epoch: z.int().positive().optional(),
});
export type EarlierRunSettings = z.infer<typeof EarlierRunSettings>;

/** `POST /api/slipway/conversations/{id}/brake`. */
export const EarlierConfirmation = z.object({
  policy: ConfirmationPolicy,
  analyzer: SecurityAnalyzer.nullable(),
  brake: OrgConfirmationPolicy,
  version: z.int().nonnegative(),
  epoch: z.int().positive(),
  chosen: z.boolean().default(false),
});
export type EarlierConfirmation = z.infer<typeof EarlierConfirmation>;

const control = '/api/slipway/conversations/:id';
const route = {
  method: 'POST',
  access: 'session',
  refusals: ['conversation.busy', 'ingest.stale-epoch', 'request.invalid'],
} as const;
export const EARLIER_SETTINGS_ROUTES = {
  earlierRunSettings: { ...route, path: `${control}/terms`, body: EarlierRunSettings },
  checkEarlierRunSettings: { ...route, path: `${control}/terms/check`, body: EarlierRunSettings },
  earlierConfirmation: { ...route, path: `${control}/brake`, body: EarlierConfirmation },
} as const satisfies Readonly<Record<string, AgentRoute>>;
