import { z } from 'zod';
import { GivenSkill } from '../actions/skills.js';
import { AgentDefinition } from '../actions/sub-agents.js';
import { MAX_MESSAGE_ATTACHMENTS } from '../conversations/attachments.js';
import { ConfirmationPolicy, OrgConfirmationPolicy, SecurityAnalyzer } from '../conversations/confirmation.js';
import {
  ConversationEvent,
  ConversationStats,
  EXECUTION_STATUSES,
  MessageAttachment,
  TextContent,
} from '../events/conversation-event.js';
import { HookConfig } from '../events/hooks.js';
import { McpConfig } from './mcp.js';

/**
 * agent-server's own surface, on OpenHands' wire (`/api`, header `X-Session-API-Key`). Requests are open: real clients
 * send much more than is read here.
 */

/** A model as OpenHands' `LLM` describes it. */
export const LlmSettings = z.looseObject({
  model: z.string(),
  api_key: z.string().nullish(),
  base_url: z.string().nullish(),
  temperature: z.number().nullish(),
  max_output_tokens: z.number().nullish(),
  /** Prompt and answer together, where the catalogue does not know it. Tokens. */
  max_input_tokens: z.int().positive().nullish(),
  num_retries: z.int().nullish(),
  /** Seconds. */
  timeout: z.number().nullish(),
  /** `false`: tools are described, called and answered in words [true]. */
  native_tool_calling: z.boolean().nullish(),
});
export type LlmSettings = z.infer<typeof LlmSettings>;

/** `POST /api/conversations/{id}/switch_llm`: another model from the next step on. */
export const SwitchLlmRequest = z.looseObject({ llm: LlmSettings });

export const StartConversationRequest = z.looseObject({
  conversation_id: z.uuid().optional(),
  agent: z.looseObject({
    llm: LlmSettings,
    system_prompt: z.string().nullish(),
    /** Skills that the client brings, and what it adds to the system prompt. */
    agent_context: z
      .looseObject({ skills: z.array(GivenSkill).max(200).nullish(), system_message_suffix: z.string().nullish() })
      .nullish(),
    /** Tool servers, by name. */
    mcp_config: McpConfig.nullish(),
    /** Of the tools, only those whose name it matches from its beginning on; thinking and finishing always. */
    filter_tools_regex: z.string().max(2_000).nullish(),
    /**
     * When the model's view is shortened by itself [near the model's limit]; `NoOpCondenser`: only when it must. `llm`
     * makes the summaries [the agent's].
     */
    condenser: z
      .looseObject({
        kind: z.string(),
        llm: LlmSettings.nullish(),
        max_size: z.int().positive().nullish(),
        max_tokens: z.int().positive().nullish(),
      })
      .nullish(),
  }),
  workspace: z.looseObject({ working_dir: z.string() }),
  initial_message: z
    .looseObject({ role: z.literal('user').optional(), content: z.array(TextContent), run: z.boolean().optional() })
    .nullish(),
  max_iterations: z.int().positive().nullish(),
  /** What the conversation may cost before it pauses. US dollars. */
  max_budget_per_task: z.number().positive().nullish(),
  stuck_detection: z.boolean().nullish(),
  /** `plan`: reads and writes a plan, and changes nothing else [default]. */
  agent_type: z.enum(['default', 'plan']).nullish(),
  /** Commands that are asked at certain moments, beside those of the workspace. */
  hook_config: HookConfig.nullish(),
  /** Kinds of sub-agents beside ours. */
  agent_definitions: z.array(AgentDefinition).max(50).nullish(),
  tags: z.record(z.string(), z.string()).nullish(),
  /** What holds until the log says otherwise [never ask; what the model says]. */
  confirmation_policy: ConfirmationPolicy.nullish(),
  security_analyzer: SecurityAnalyzer.nullish(),
  /**
   * Present when Slipway's app owns the log: where its events go, and from where a previous process's log is read back.
   */
  slipway: z
    .object({
      epoch: z.int().positive(),
      /** `…/ingest/v1/conversations/{id}`, without a trailing slash. */
      ingestUrl: z.url(),
      ingestToken: z.string(),
      /** Log length at this start: more than 0 means read `GET {ingestUrl}/events` first and go on from there. */
      head: z.int().nonnegative(),
      /** Capture the files whenever the agent comes to rest: there is where to keep them. */
      checkpoints: z.boolean().optional(),
      /** Go on running after the history is read: the sandbox before this one was lost while it worked. */
      resumeRun: z.boolean(),
      systemMessageSuffix: z.string().optional(),
      /** No change of `max_iterations` goes beyond it. */
      iterationCeiling: z.int().positive().optional(),
      /**
       * The organization's confirmation policy in this sandbox: traffic by sandbox-gateway cannot get around it.
       * Absent: the policy of before holds.
       */
      orgConfirmation: OrgConfirmationPolicy.optional(),
      /** `orgConfirmation` as the release before 0.1.0 names it. Goes in 0.2.0. */
      brake: OrgConfirmationPolicy.optional(),
      /**
       * Notice for an agent that worked before, such as that its files are gone. Sent once an epoch, as a message that
       * its user reads too.
       */
      notice: z.string().min(1).max(2_000).optional(),
    })
    .optional(),
});
export type StartConversationRequest = z.infer<typeof StartConversationRequest>;

/**
 * `POST /api/slipway/secrets`, before the workspace is made: everything that the conversation may have, in place of
 * what was handed over before. Kept in memory alone. Every value is masked from then on, those of before too.
 */
export const SandboxSecrets = z.object({
  /** What commands see as environment variables. */
  variables: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().min(1)),
  /** Of those, the site into whose pages the browser may type it: `login.example`, `login.example:8443`. */
  hosts: z.record(z.string(), z.string().min(1)).optional(),
  /** Credentials of git, by host. */
  git: z.array(
    z.object({ name: z.string(), host: z.string().min(1), username: z.string().min(1), password: z.string().min(1) }),
  ),
  /**
   * Repositories that git reads through Slipway, which adds the credential outside: `repository` as people write it,
   * `through` what git is to ask instead, with `token`.
   */
  relays: z.array(z.object({ repository: z.url(), through: z.url(), token: z.string().min(1) })).optional(),
});
export type SandboxSecrets = z.infer<typeof SandboxSecrets>;

export const ConversationInfo = z.looseObject({
  id: z.uuid(),
  execution_status: z.enum(EXECUTION_STATUSES),
  workspace: z.looseObject({ working_dir: z.string(), kind: z.literal('LocalWorkspace') }),
  stats: ConversationStats.partial(),
  title: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ConversationInfo = z.infer<typeof ConversationInfo>;

export const SendEventRequest = z.looseObject({
  role: z.literal('user'),
  content: z.array(TextContent).min(1),
  run: z.boolean().default(false),
  /** Slipway's: the id that the MessageEvent gets. The same id again is the same message, answered with success. */
  event_id: z.uuid().optional(),
  /** Files that were uploaded for it before. Believed from the app alone, as `sender`. */
  attachments: z.array(MessageAttachment).max(MAX_MESSAGE_ATTACHMENTS).optional(),
  /** Believed from the app alone. */
  sender: z.string().optional(),
  sender_id: z.string().max(200).optional(),
  /**
   * A notice of the platform and of no user: it begins no turn, accepts and rejects nothing. The agent reads it at its
   * next step; with `run` an idle one takes a step for it. Believed from the app alone.
   */
  notice: z.boolean().optional(),
});
export type SendEventRequest = z.infer<typeof SendEventRequest>;

/** `POST /api/conversations/{id}/fork`: a new conversation that begins with what this one knows. */
export const ForkConversationRequest = z.looseObject({
  id: z.uuid().nullish(),
  title: z.string().max(500).nullish(),
  tags: z.record(z.string(), z.string()).nullish(),
  reset_metrics: z.boolean().default(true),
  /** Up to and with this event; absent: everything. */
  from_event_id: z.uuid().nullish(),
});
export type ForkConversationRequest = z.infer<typeof ForkConversationRequest>;

/** `PATCH /api/conversations/{id}`. */
export const UpdateConversationRequest = z.looseObject({
  title: z.string().max(500).nullish(),
  tags: z.record(z.string(), z.string()).nullish(),
});
export const AskAgentRequest = z.looseObject({ question: z.string().min(1).max(100_000) });

/** `POST /api/conversations/{id}/navigate`: back to where it stood at an event; absent: to its beginning. */
export const NavigateConversationRequest = z.looseObject({ event_id: z.string().max(100).nullish() });

export const EventSearchPage = z.object({ items: z.array(ConversationEvent), next_page_id: z.string().nullable() });

/** `POST /api/bash/execute_bash_command` and `start_bash_command`. `timeout` in seconds. */
export const ExecuteBashRequest = z.looseObject({
  command: z.string().min(1),
  cwd: z.string().nullish(),
  timeout: z.number().positive().max(3600).default(300),
});
export type ExecuteBashRequest = z.infer<typeof ExecuteBashRequest>;
export const BashOutput = z.looseObject({
  id: z.string(),
  kind: z.literal('BashOutput'),
  command_id: z.string(),
  order: z.int(),
  /** `null` while it runs; -1 when it was killed at its timeout. */
  exit_code: z.int().nullable(),
  stdout: z.string().nullable(),
  stderr: z.string().nullable(),
  timestamp: z.string(),
});
export type BashOutput = z.infer<typeof BashOutput>;

export const GitChange = z.object({
  status: z.enum(['MOVED', 'ADDED', 'DELETED', 'UPDATED']),
  path: z.string(),
  additions: z.int().optional(),
  deletions: z.int().optional(),
  binary: z.boolean().optional(),
  /** Of what the file holds now; two alike mean the same content. */
  hash: z.string().max(100).optional(),
  /**
   * Not a file but a folder with so many changed files, listed in their place: there are more than `at_most`. With the
   * path of the folder that was asked for: how many of it are in no entry.
   */
  files: z.int().positive().optional(),
});
export type GitChange = z.infer<typeof GitChange>;
export const GitDiff = z.object({ original: z.string().nullable(), modified: z.string().nullable() });
export type GitDiff = z.infer<typeof GitDiff>;
