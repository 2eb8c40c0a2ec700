import { z } from 'zod';
import { ConfirmationPolicy, OrgConfirmationPolicy, SecurityAnalyzer } from '../conversations/confirmation.js';
import type { AgentRoute } from './agent-route.js';
import { AgentType, type AppliedSettings, type ApplySettings, type RefusedSetting } from './agent-settings.js';

/**
 * The three routes by which settings reached an agent before `ApplySettings`. agent-server answers them as aliases, and callers fall back to them
 * where a running sandbox is of that release. All of it goes in 0.2.0.
 */

/** `POST /api/slipway/conversations/{id}/terms`, and `…/terms/check`, which changes nothing. Absent stays; `null` takes a limit away. */
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
const route = { method: 'POST', access: 'session', refusals: ['conversation.busy', 'ingest.stale-epoch', 'request.invalid'] } as const;
export const EARLIER_SETTINGS_ROUTES = {
  earlierRunSettings: { ...route, path: `${control}/terms`, body: EarlierRunSettings },
  checkEarlierRunSettings: { ...route, path: `${control}/terms/check`, body: EarlierRunSettings },
  earlierConfirmation: { ...route, path: `${control}/brake`, body: EarlierConfirmation },
} as const satisfies Readonly<Record<string, AgentRoute>>;

/** One request to an agent-server of the release before; `setting` names what its refusal is about. */
interface EarlierRequest {
  readonly path: string;
  readonly body: object;
  readonly setting: 'agentType' | 'maxIterations' | 'maxBudgetUsd' | null;
}

/** The same settings for an agent-server of the release before, in the order in which they are sent: the confirmation policy holds first. */
function earlierRequests(conversationId: string, { settings, epoch, chosen, dryRun, earlierVersions }: ApplySettings): EarlierRequest[] {
  const { model, agentType, limits, confirmation } = settings;
  const of = `/api/slipway/conversations/${conversationId}`;
  const ordered = earlierVersions === undefined ? { epoch } : { version: earlierVersions.runSettings, epoch };
  const run = (setting: EarlierRequest['setting'], values: EarlierRunSettings): EarlierRequest => ({
    path: dryRun ? `${of}/terms/check` : `${of}/terms`,
    body: dryRun ? values : { ...values, ...ordered },
    setting,
  });
  const runSettings = [
    run('maxIterations', { max_iterations: limits.maxIterations }),
    run('maxBudgetUsd', { max_budget_per_task: limits.maxBudgetUsd }),
    run('agentType', { agent_type: agentType }),
  ];
  if (dryRun) return runSettings;
  const { policy, analyzer, organization } = confirmation;
  const asked: EarlierConfirmation = { policy, analyzer, brake: organization, version: earlierVersions?.confirmation ?? 0, epoch, chosen };
  return [
    { path: `${of}/brake`, body: asked, setting: null },
    ...runSettings,
    ...(model === undefined ? [] : [{ path: `/api/conversations/${conversationId}/switch_llm`, body: { llm: model }, setting: null }]),
  ];
}

/**
 * Applies settings through the three routes.
 * @param send one POST. @param refusalOf what an error of `send` says of the setting; `null`: the error is rethrown.
 */
export async function applyEarlier(
  conversationId: string,
  request: ApplySettings,
  send: (path: string, body: object) => Promise<unknown>,
  refusalOf: (error: unknown) => Omit<RefusedSetting, 'setting'> | null,
): Promise<AppliedSettings> {
  const refused: RefusedSetting[] = [];
  for (const { path, body, setting } of earlierRequests(conversationId, request)) {
    try {
      await send(path, body);
    } catch (error) {
      const refusal = setting === null ? null : refusalOf(error);
      if (setting === null || refusal === null) throw error;
      refused.push({ setting, ...refusal });
    }
  }
  return { version: request.version, refused };
}
