import { z } from 'zod';
import { START_STATUSES } from '../conversations/start-task.js';
import { ERROR_CODES } from '../errors/error-codes.js';
import { FLAG_KEYS, FLAG_VALUES } from './flags.js';

/** Longest name of a model in an event. Characters. */
const MAX_MODEL_NAME = 80;
/** As operators name models for the gateway: no space and no `@`, so neither a sentence nor an address. */
const ModelName = z
  .string()
  .max(MAX_MODEL_NAME)
  .regex(/^[a-z0-9][\w.:/-]*$/i)
  .brand<'ModelName'>();
export type ModelName = z.infer<typeof ModelName>;

/**
 * A model as an event may name it: one of the gateway's, or `profile` for an organization's own, whose name is theirs;
 * `other` for anything else.
 */
export function modelName(model: string): ModelName {
  return ModelName.parse(
    model.startsWith('profile/') ? 'profile' : ModelName.safeParse(model).success ? model : 'other',
  );
}

/**
 * What a property may be. A free string is none of these, so that neither a prompt nor a name can become one: it does
 * not compile.
 */
type Property = z.ZodNumber | z.ZodBoolean | z.ZodEnum | typeof ModelName;
const event = <const S extends Readonly<Record<string, Property>>>(shape: S) => z.strictObject(shape);

const count = () => z.int().nonnegative();
const amount = () => z.number().nonnegative();
const Provider = z.enum(['github', 'gitlab', 'gitea', 'slack', 'linear', 'jira', 'other']);

/**
 * Every analytics event and all that it may say. `docs/operate/analytics.md` lists them; a snapshot test holds the
 * names of the properties. The order of the first ten is the funnel from sign-up to a merged pull request.
 */
export const ANALYTICS_EVENTS = {
  user_signed_up: event({ idp: z.enum(['direct', 'brokered']) }),
  org_created: event({ kind: z.enum(['personal', 'company']) }),
  git_provider_connected: event({ provider: Provider }),
  conversation_started: event({
    trigger: z.enum(['page', 'api', 'integration']),
    has_repository: z.boolean(),
    model: ModelName,
    environment: z.boolean(),
  }),
  /** Since the conversation was made. */
  first_event_seen: event({ seconds: amount() }),
  first_tool_succeeded: event({ seconds: amount() }),
  /** One for each message that the agent worked on; `cost_usd` and `tokens` are of that run. */
  agent_task_completed: event({
    result: z.enum(['finished', 'error', 'stuck', 'stopped']),
    turns: count(),
    steps: count(),
    tool_calls: count(),
    minutes: amount(),
    cost_usd: amount(),
    tokens: count(),
    model: ModelName,
    interrupted: z.boolean(),
    approvals: count(),
  }),
  changes_pushed: event({ files: count(), lines: count() }),
  pull_request_opened: event({ provider: Provider }),
  /** `cost_usd` is of the whole conversation. */
  pull_request_merged: event({ provider: Provider, hours_open: amount(), cost_usd: amount() }),
  /** The user's first run that finished, in this organization. */
  user_activated: event({ days_since_sign_up: amount() }),
  conversation_failed: event({ code: z.enum([...ERROR_CODES, 'other']), step: z.enum([...START_STATUSES, 'RUN']) }),
  approval_answered: event({ yes: z.boolean(), seconds: amount() }),
  member_invited: event({}),
  member_joined: event({}),
  api_key_created: event({}),
  cli_paired: event({}),
  integration_installed: event({ provider: Provider }),
  download_trajectory_button_clicked: event({}),
  example_task_chosen: event({ position: z.int().min(1).max(9) }),
  /** PostHog's `$feature_flag_called`: this user met this value of a flag for the first time. */
  experiment_exposed: event({ flag: z.enum(FLAG_KEYS), variant: z.enum(FLAG_VALUES) }),
  /** PostHog's `$ai_generation`, where ANALYTICS_MODEL_CALLS is on. */
  model_called: event({
    model: ModelName,
    input_tokens: count(),
    output_tokens: count(),
    cached_tokens: count(),
    cost_usd: amount(),
    seconds: amount(),
    first_byte_seconds: amount(),
    failed: z.boolean(),
  }),
} as const;
export type AnalyticsEventName = keyof typeof ANALYTICS_EVENTS;
export const ANALYTICS_EVENT_NAMES = Object.keys(ANALYTICS_EVENTS) as [AnalyticsEventName, ...AnalyticsEventName[]];

export type AnalyticsEvent = {
  readonly [N in AnalyticsEventName]: { readonly name: N; readonly properties: z.output<(typeof ANALYTICS_EVENTS)[N]> };
}[AnalyticsEventName];

/** As `Provider` of an event, whatever a row says. */
export function analyticsProvider(provider: unknown): z.infer<typeof Provider> {
  return Provider.safeParse(provider).data ?? 'other';
}

/**
 * What the page itself reports; all other events come from the log and the audit. The value of a flag is the server's
 * to say.
 */
export const PageEvent = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('download_trajectory_button_clicked') }),
  z.strictObject({
    name: z.literal('example_task_chosen'),
    position: ANALYTICS_EVENTS.example_task_chosen.shape.position,
  }),
  z.strictObject({ name: z.literal('experiment_exposed'), flag: z.enum(FLAG_KEYS) }),
]);
export type PageEvent = z.infer<typeof PageEvent>;

/** `POST /api/v1/analytics/events`. `id` names the event: repeated, it is the same one. */
export const RecordPageEvent = z.strictObject({
  id: z.uuid(),
  organization: z.string().min(1).max(100),
  event: PageEvent,
});
export type RecordPageEvent = z.infer<typeof RecordPageEvent>;

/** What of analytics concerns a signed-in user. */
export const MyAnalytics = z.object({
  /** Host of the service that this installation sends events to; `null`: it sends none, whatever is chosen. */
  host: z.string().nullable(),
});
export type MyAnalytics = z.infer<typeof MyAnalytics>;

/** An event that waits, as it will be sent. */
export const WaitingEvent = z.object({
  id: z.uuid(),
  name: z.string(),
  at: z.iso.datetime(),
  /** Stands for the user and for the organization; `null` where this server has no ANALYTICS_SECRET. */
  user: z.string().nullable(),
  organization: z.string().nullable(),
  properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
export type WaitingEvent = z.infer<typeof WaitingEvent>;

/** Most events of the list. */
export const MAX_WAITING_EVENTS = 200;
/** `GET …/analytics/waiting`: the oldest first. */
export const WaitingEvents = z.object({
  host: z.string().nullable(),
  total: z.int().nonnegative(),
  data: z.array(WaitingEvent),
});
export type WaitingEvents = z.infer<typeof WaitingEvents>;
