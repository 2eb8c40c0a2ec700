import type { AgentAction, SandboxAction, SandboxObservation } from '@slipway/contracts/actions';
import type { ConfirmationSettings, SecurityRisk } from '@slipway/contracts/conversations';
import type { ErrorCode } from '@slipway/contracts/errors';
import type { ConversationEvent, EventOf, HookConfig, HookDefinition, StreamingDelta } from '@slipway/contracts/events';
import type { Clock } from '@slipway/domain';
import type {
  Completion,
  CompletionOptions,
  CompletionRequest,
  CompletionUsage,
  LlmUsage,
  ToolCall,
  ToolDefinition,
} from '@slipway/llm';
import type { z } from 'zod';
import type { CondenserSettings } from './condenser/settings.js';
import type { HookResult } from './hooks/hook-result.js';
import type { ReadPicture } from './shown-pictures.js';
import type { StatsBook } from './stats.js';

/** The conversation as the agent sees it: what is in `events` is on disk. */
export interface AgentLog {
  readonly events: readonly ConversationEvent[];
  /**
   * Resolves when the events are on disk and in `events`, in this order. Rejects with `sandbox.disk-full` (nothing was
   * kept) or `ingest.stale-epoch` (another sandbox owns the conversation: write no more).
   */
  append(events: readonly ConversationEvent[]): Promise<void>;
  /**
   * As `append`, for the events that end a run: on a full disk they are kept in memory and leave for the app all the
   * same.
   */
  appendLast(events: readonly ConversationEvent[]): Promise<void>;
  /** Resolves when few enough events wait to be acknowledged. This is how a slow app slows the agent. */
  room(signal: AbortSignal): Promise<void>;
}

/** One attempt at the model; rejects with `model.*` codes, or with the signal's reason. */
export interface ModelPort {
  /**
   * The model of the next call, as its provider calls it, and how long a prompt and its answer may be together
   * (tokens), where that is known.
   */
  readonly config: { readonly model: string; readonly contextWindow?: number };
  complete(request: CompletionRequest, options: CompletionOptions): Promise<Completion>;
}

/** Receives what a command prints while it runs. Best effort: a failure of the receiver does not fail the call. */
export interface OutputWatch {
  /** Names the call; no other call of the sandbox has the same. */
  readonly call: string;
  /** Text that goes on where the one before ended. It may hold colours as terminals have them, and secrets. */
  readonly output: (text: string) => void;
}

/**
 * Runs an action in the sandbox. Aborting ends what it started; its output so far is passed on before this rejects.
 * Rejects with a SlipwayError whose detail is for the model: `sandbox.tool-unavailable` when the tool process did not
 * come back.
 */
export interface ToolPort {
  execute(
    action: SandboxAction,
    context: {
      readonly signal: AbortSignal;
      readonly traceparent: string;
      readonly watch?: OutputWatch;
      /** Of its event: the sandbox's way out names it where a program asks for a host. */
      readonly actionId?: string;
    },
  ): Promise<SandboxObservation>;
}

export interface AgentPorts {
  readonly log: AgentLog;
  /** The model for a usage. Asked for at each call: it may be switched meanwhile. */
  readonly models: (usage: LlmUsage) => ModelPort;
  /** What the conversation used. One for everything that runs on it. */
  readonly stats: Pick<StatsBook, 'value' | 'add'>;
  /** What the limit of its cost is compared with. Absent: `stats`. */
  readonly spent?: Pick<StatsBook, 'value'>;
  readonly tools: ToolPort;
  /** Does the text hold a secret that no model may see? Absent: none is known. */
  readonly holdsSecret?: (text: string) => boolean;
  /** Pictures that users sent. Absent: the model reads where they lie, and sees none. */
  readonly readPicture?: ReadPicture;
  /** `null`: nothing is asked. */
  readonly hooks: HookPort | null;
  /** Skills of the files that an action was about, for the model to read with its answer. Absent: there are none. */
  readonly skillsOf?: (
    action: AgentAction,
    events: readonly ConversationEvent[],
  ) => Pick<EventOf<'ObservationEvent'>, 'activated_skills' | 'extended_content'>;
  /** What the model may call. Read at each step. */
  readonly toolbox: ToolSet;
  /** Tools as a `SystemPromptEvent` lists them. Absent: those that come later are not listed again. */
  readonly listTools?: (tools: readonly Tool[]) => ReadonlyArray<Record<string, unknown>>;
  readonly clock: Clock;
  readonly ids: { uuid(): string };
  /** 0 to 1. */
  readonly random: () => number;
  /** Resolves after `ms`; rejects with the signal's reason. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  /** For viewers; not stored. */
  readonly onDelta: (delta: StreamingDelta) => void;
  /** US dollars. */
  readonly costOf: (model: string, usage: CompletionUsage) => number;
  /** A new span under the trace of the message that is being worked on. */
  readonly traceparent: () => string;
  /** A retry that is about to be waited for; for the log of the process. */
  readonly onRetry: (failure: { code: ErrorCode; detail: string; attempt: number; waitMs: number }) => void;
  /** A fault of our own that ended a run; for the log of the process. */
  readonly onFault: (error: unknown) => void;
}

/** What a run needs to know of its conversation. All of it is read at each step: it may change meanwhile. */
export interface RunSettings {
  /** Steps of one run; a run ends when the agent has nothing more to do, and a message begins a new one. */
  readonly maxIterations: number;
  /** What the conversation may cost by its own limit, beside the organization's budget. US dollars. */
  readonly maxCostUsd: number | null;
  readonly stuckDetection: boolean;
  /** How often a failed model call is repeated. */
  readonly modelRetries: number;
  readonly condenser: CondenserSettings;
  /** When a user must confirm an action. Read at each step. */
  readonly confirmation: ConfirmationSettings;
  /** Whether these actions, which the log says were accepted, may be carried out: the log may not be enough. */
  readonly mayCarryOut: (actionIds: readonly string[]) => boolean;
}

/** How the one who started a run stops it. */
export interface RunControl {
  /** Aborted: stop now. */
  readonly signal: AbortSignal;
  /** True: stop at the end of the step. */
  pauseRequested(): boolean;
}

/** `waiting`: actions in the log wait for a user's confirmation. */
export type RunOutcome = 'finished' | 'waiting' | 'paused' | 'interrupted' | 'error' | 'stuck' | 'fenced';

/** Commands of the workspace or the client that are asked at certain moments. */
export interface HookPort {
  readonly config: HookConfig;
  readonly sessionId: string;
  readonly workingDir: string;
  /** Runs an agent as judge. Rejects with the signal's reason, and with the log's errors. */
  judge(
    hook: HookDefinition,
    moment: object,
    context: {
      readonly ports: AgentPorts;
      readonly settings: RunSettings;
      readonly signal: AbortSignal;
      readonly actionId: string;
    },
  ): Promise<HookResult>;
  /** Runs a command in the sandbox with `input` as JSON on its standard input. Rejects as a tool does. */
  run(
    command: string,
    input: object,
    timeoutS: number,
    signal: AbortSignal,
  ): Promise<{ exitCode: number; timedOut: boolean; stdout: string; stderr: string }>;
}

export type Observation = EventOf<'ObservationEvent'>['observation'];

/** What a tool that the agent answers itself may look at. */
export interface OwnToolContext {
  /** The log so far; the action is in it. */
  readonly events: readonly ConversationEvent[];
  /** The action's own event. */
  readonly event: EventOf<'ActionEvent'>;
  /** What a tool needs that works with models or other tools itself. */
  readonly ports: AgentPorts;
  readonly settings: RunSettings;
  readonly signal: AbortSignal;
}

/** Something that the model can call: how it is described to it, and what action its arguments make. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** `kind` of the action. Two tools never share one, but for those of MCP servers. */
  readonly kind: string;
  /** Reads `{...arguments, kind}`; what it does not name is stripped. */
  readonly schema: z.ZodType<AgentAction>;
  /** Makes the action in place of `schema`, where the arguments are somebody else's and may have any name. */
  readonly readArguments?: (args: Record<string, unknown>) => AgentAction;
  /** `false`: an argument `security_risk` is the tool's own. */
  readonly saysRisk?: boolean;
  /** Names that models use for this tool besides its own. */
  readonly aliases?: readonly string[];
  /** It changes nothing, always or with this action: calls of one answer may run beside each other. */
  readonly readOnly?: boolean | ((action: AgentAction) => boolean);
  /** A sub-agent does not have it: the depth is one. */
  readonly makesSubAgents?: boolean;
  /**
   * Present when the agent answers it; absent when the sandbox's tool process does. Rejects with a SlipwayError whose
   * detail is for the model.
   */
  observe?(action: AgentAction, context: OwnToolContext): Observation | Promise<Observation>;
}

export type ParsedCall =
  | {
      readonly ok: true;
      readonly tool: Tool;
      readonly action: AgentAction;
      readonly risk: SecurityRisk;
      readonly summary: string | undefined;
    }
  | { readonly ok: false; readonly error: string };

/** The tools of one conversation. */
export interface ToolSet {
  readonly tools: readonly Tool[];
  readonly definitions: readonly ToolDefinition[];
  /** What the log says that the model has; absent before its first step. */
  shown?: readonly Tool[];
  /** Resolves when tools that are about to come are there or have had their time. */
  settled(signal: AbortSignal): Promise<void>;
  /**
   * The tool that an action in the log was made by, and the action as the tool reads it; `null` when there is no such
   * tool any more.
   */
  recall(event: EventOf<'ActionEvent'>): { tool: Tool; action: AgentAction } | null;
  /** The action that a tool call asks for, or a sentence for the model that says what is wrong with the call. */
  parse(call: ToolCall): ParsedCall;
}
