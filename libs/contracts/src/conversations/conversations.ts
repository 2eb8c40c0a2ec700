import { z } from 'zod';
import { AgentType } from '../agent/agent-settings.js';
import { EVENT_KINDS, EXECUTION_STATUSES } from '../events/conversation-event.js';
import { ChecksSummary, PullRequestStatus, ReviewState } from '../repositories/pull-requests.js';
import { Attachment, MAX_MESSAGE_ATTACHMENTS } from './attachments.js';
import { ConfirmationMode } from './confirmation.js';
import { ConversationBudget, MaxIterations } from './run-settings.js';
import { RuntimeState } from './runtime-status.js';
import { StartStatus, StartStep } from './start-task.js';

/** Longest prompt. UTF-16 code units; 1 MB of text must get a clear answer, and does: it is refused. */
export const MAX_PROMPT_LENGTH = 200_000;
/** Longest inbox of one conversation, in messages not yet taken in. */
export const MAX_QUEUED_MESSAGES = 50;

/** Text that the database can hold: everything but NUL. */
const text = z.string().refine((value) => !value.includes('\u0000'), 'must not contain the character NUL');

/** `http(s)://host/path`, with no user, password or query in it: a token in a URL ends up in logs. */
export const RepositoryUrl = z
  .url({ protocol: /^https?$/, hostname: /.+/ })
  .max(2048)
  .refine(
    (value) => !URL.canParse(value) || (new URL(value).username === '' && new URL(value).password === ''),
    'must not carry a user or password',
  )
  .refine((value) => !/[\s?#]/.test(value), 'must not have blanks, a query or a fragment');

/** `provider:owner/name`, of a connection of the organization: `gitea:ada/shop`. */
export const RepositoryReference = z
  .string()
  .max(600)
  .regex(/^[a-z][a-z0-9-]{0,49}:[\w.-]+(?:\/[\w.-]+)+$/, 'is neither a URL nor provider:owner/name')
  .refine(
    (value) => value.split(/[:/]/).every((part) => !/^\.+$/.test(part)),
    'is neither a URL nor provider:owner/name',
  );

/** A branch as git accepts it, and never an option: no leading dash, no spaces, no `..`. */
export const BranchName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?!-)(?!.*\.\.)(?!.*[\s~^:?*[\\\p{Cc}])(?!.*\/$)(?!.*\.lock$).+$/u, 'is not a branch name');

/** The name of an environment, such as `staging`: secrets are given by it. */
export const EnvironmentName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'is not the name of an environment: a-z, 0-9 and - inside');

export const CreateConversation = z
  .strictObject({
    /** The task. */
    prompt: text.trim().min(1, 'say what the agent should do').max(MAX_PROMPT_LENGTH),
    /** A URL, or `provider:owner/name` of a connection. */
    repository: z.union([RepositoryUrl, RepositoryReference]).optional(),
    branch: BranchName.optional(),
    /** An id from `GET …/models`: a model of the gateway, or a profile (`profile/<name>`); absent takes the default. */
    model: z.string().min(1).max(200).optional(),
    title: text.trim().min(1).max(200).optional(),
    /** Whose secrets it gets beside the others; absent takes the organization's default. */
    environment: EnvironmentName.optional(),
    /** How often its agent asks before it acts; absent, or less than the organization's own: the organization's. */
    confirmation: ConfirmationMode.optional(),
    /** `plan`: it writes a plan and changes nothing else, until it is asked to carry it out [default]. */
    agentType: AgentType.optional(),
    /** Steps for one message, before it pauses; absent: what the organization allows. */
    maxIterations: MaxIterations.optional(),
    /** What it may cost before it pauses. US dollars; absent: the budgets of the organization alone. */
    maxBudgetUsd: ConversationBudget.optional(),
    /** Ids of files that the caller has uploaded for a task (`POST …/attachments`), as of `SendMessage.attachments`. */
    attachments: z.array(z.uuid()).max(MAX_MESSAGE_ATTACHMENTS).optional(),
  })
  .refine((body) => body.branch === undefined || body.repository !== undefined, {
    path: ['branch'],
    message: 'needs a repository',
  });
export type CreateConversation = z.infer<typeof CreateConversation>;

/** As `CreateConversation.model`. */
export const SwitchModel = z.strictObject({ model: z.string().min(1).max(200) });
export type SwitchModel = z.infer<typeof SwitchModel>;

/** The status that a user reads; a pure function of the log (`reduceConversationStatus` in libs/domain). */
export const CONVERSATION_STATUSES = [
  'starting',
  'working',
  'waiting',
  'paused',
  'finished',
  'failed',
  'stopped',
] as const;
export const ConversationStatus = z.enum(CONVERSATION_STATUSES);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

export const SANDBOX_STATUSES = ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'] as const;
export const SandboxStatus = z.enum(SANDBOX_STATUSES);
export type SandboxStatus = z.infer<typeof SandboxStatus>;

/** A message between being accepted and being in the log. */
export const QueuedMessage = z.object({
  id: z.uuid(),
  /** 1 is the next to be taken in. */
  position: z.int().positive(),
  text: z.string(),
  state: z.enum(['queued', 'delivered']),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  /** Id of the user or service account that wrote it. A server of the version before answers none of these three. */
  createdById: z.string().optional(),
  /** Waits until the agent's turn ends. Otherwise it is handed over as soon as there is a sandbox. */
  held: z.boolean().optional(),
  /** Counts the changes of its text, from 1. */
  version: z.int().positive().optional(),
  /** Files that go with it; absent: none. */
  attachments: z.array(Attachment).optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

export const Conversation = z.object({
  id: z.uuid(),
  orgId: z.string(),
  title: z.string(),
  status: ConversationStatus,
  executionStatus: z.enum(EXECUTION_STATUSES),
  sandboxStatus: SandboxStatus,
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  model: z.string(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  start: z.object({ status: StartStatus, steps: z.array(StartStep) }),
  runtime: RuntimeState.default({ status: 'BUILDING_RUNTIME' }),
  /** `seq` of the last event of the log; 0 before the first. */
  head: z.int().nonnegative(),
  queued: z.array(QueuedMessage),
  costUsd: z.string(),
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  /** How often its agent asks before it acts, as it was set; the organization's mode is a floor above it. */
  confirmation: ConfirmationMode.default('never'),
  agentType: AgentType.default('default'),
  /** Of its own; the organization's is a ceiling above it. */
  maxIterations: z.int().positive().nullable().default(null),
  /** Of its own. US dollars. */
  maxBudgetUsd: z.string().nullable().default(null),
  /** The conversation whose log it shares up to `seq`; it may have been deleted. */
  forkedFrom: z.object({ conversation: z.uuid(), seq: z.int().positive() }).nullable().default(null),
  /** Whether the caller has pinned it. */
  pinned: z.boolean().default(false),
  tags: z.array(z.string()).default([]),
  archivedAt: z.iso.datetime().nullable().default(null),
  /** It can be restored for 48 hours from then on; `null`: it is not deleted. */
  deletedAt: z.iso.datetime().nullable().default(null),
  /** Position of the log that the caller has looked at, on any device; 0: never. */
  readSeq: z.int().nonnegative().default(0),
  /** When they looked there; `null`: never, or not known. */
  readAt: z.iso.datetime().nullable().default(null),
});
export type Conversation = z.infer<typeof Conversation>;

/** The pull request of a conversation, as a list shows it: as last seen. */
export const ConversationPullRequest = z.object({
  /** `null`: not opened yet. */
  number: z.int().nullable(),
  url: z.string().nullable(),
  state: PullRequestStatus,
  draft: z.boolean(),
  checks: ChecksSummary.shape.state,
  review: ReviewState,
  /** `null`: the provider does not say. */
  conflicts: z.boolean().nullable(),
});
export type ConversationPullRequest = z.infer<typeof ConversationPullRequest>;

export const StopReason = z.object({
  /** Code of the failure or limit that ended the last run; `null`: none did. */
  code: z.string().nullable(),
  /** Label of the user who stopped or paused it; `null`: it was not a user. */
  by: z.string().nullable(),
});
export type StopReason = z.infer<typeof StopReason>;

/** A line of the list: a conversation without its steps and its queue. */
export const ConversationSummary = Conversation.omit({
  start: true,
  runtime: true,
  queued: true,
  confirmation: true,
  agentType: true,
  maxIterations: true,
  maxBudgetUsd: true,
  forkedFrom: true,
  readSeq: true,
  readAt: true,
}).extend({
  /** The newest, where it has published any. */
  pullRequest: ConversationPullRequest.nullable().default(null),
  /** Why it does not go on by itself; `null` where nothing but its status says so. */
  stopReason: StopReason.nullable().default(null),
  /** Position of the log that the caller has looked at, on any device; 0: never. */
  readSeq: z.int().nonnegative().default(0),
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;

export const SendMessage = z.strictObject({
  /** Made by the client: sending the same id again is the same message. */
  id: z.uuid().optional(),
  text: text.trim().min(1).max(MAX_PROMPT_LENGTH),
  /** Ids of files that the caller has uploaded and not sent yet, in the order in which the agent reads of them. */
  attachments: z.array(z.uuid()).max(MAX_MESSAGE_ATTACHMENTS).optional(),
});
export type SendMessage = z.infer<typeof SendMessage>;

export const EditMessage = z.strictObject({
  text: text.trim().min(1).max(MAX_PROMPT_LENGTH),
  /** The version that was edited: another one now refuses the change. */
  version: z.int().positive(),
});
export type EditMessage = z.infer<typeof EditMessage>;

export const OrderMessages = z.strictObject({
  /** Messages that wait, the next first. Those that are left out follow, in their order. */
  ids: z.array(z.uuid()).min(1).max(MAX_QUEUED_MESSAGES),
});
export type OrderMessages = z.infer<typeof OrderMessages>;

export const QueuedMessageList = z.object({ data: z.array(QueuedMessage) });
export type QueuedMessageList = z.infer<typeof QueuedMessageList>;

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});
export const CONVERSATION_SORTS = ['created', 'updated', 'cost'] as const;
/** Which conversations a list has. */
export const SHOWN = ['open', 'archived', 'all', 'deleted'] as const;

/** All that are given hold together. A cursor belongs to the sort that it was given with. */
export const ListConversationsQuery = PageQuery.extend({
  status: ConversationStatus.optional(),
  /** Id of the user or service account that it belongs to. */
  owner: text.min(1).max(200).optional(),
  /** As it was given when the conversation was made; empty: those without one. */
  repository: text.max(2048).optional(),
  model: text.min(1).max(200).optional(),
  createdAfter: z.iso.datetime().optional(),
  createdBefore: z.iso.datetime().optional(),
  /** Part of the title, in whichever case. */
  search: text.trim().min(1).max(200).optional(),
  /** `open`: neither archived nor deleted. `deleted`: those that can be restored. */
  shown: z.enum(SHOWN).default('open'),
  /** One of its tags, as it was given. */
  tag: text.min(1).max(50).optional(),
  /** What the caller has pinned. */
  pinned: z.literal('true').optional(),
  /** The latest, or the dearest, first. */
  sort: z.enum(CONVERSATION_SORTS).default('created'),
});
export type ListConversationsQuery = z.infer<typeof ListConversationsQuery>;

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), page: z.object({ nextCursor: z.string().nullable() }) });

export const EventsQuery = z.object({
  /** Events with a greater `seq`. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  /** With `before`, the page ends below this `seq` and is still in ascending order: for scrolling up. */
  before: z.coerce.number().int().min(1).optional(),
  /**
   * Events of this kind alone; not for a stream, which has all. `nextAfter` is then `null` where there is no further
   * one.
   */
  kind: z.enum(EVENT_KINDS).optional(),
});
