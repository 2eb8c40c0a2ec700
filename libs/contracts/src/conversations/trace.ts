import { z } from 'zod';

/**
 * The trace of a conversation: its log, its starts and its model calls as spans. Made when it is asked for; nothing of
 * it is stored.
 */

/** Most spans of one answer. A longer trace goes on with `nextAfter`. */
export const MAX_TRACE_SPANS = 10_000;
/** Longest `name` of a span, and longest `title` of a turn. UTF-16 code units. */
export const MAX_SPAN_NAME = 80;
/** Most entries of a turn's `longest`. */
export const MAX_LONGEST_SPANS = 5;

export const TRACE_SPAN_KINDS = [
  'turn',
  'start',
  'start_step',
  'agent',
  'chat',
  'tool',
  'approval',
  'condense',
  'sub_agent',
] as const;
export type TraceSpanKind = (typeof TRACE_SPAN_KINDS)[number];

/** Category of a moment of a turn. `other`: delivery, the agent's own work, or an idle turn. */
export const TRACE_PARTS = ['start', 'model', 'tool', 'approval', 'condense', 'other'] as const;
export type TracePart = (typeof TRACE_PARTS)[number];

const SpanId = z.string().regex(/^[0-9a-f]{16}$/);
const Milliseconds = z.int().nonnegative();

export const TraceSpan = z.object({
  /**
   * First 8 bytes of SHA-256 of conversation, event (or ledger row) and kind: the same span has the same id in every
   * answer.
   */
  id: SpanId,
  /** `null` for a turn. A parent stands before its children. */
  parent: SpanId.nullable(),
  kind: z.enum(TRACE_SPAN_KINDS),
  /** OpenTelemetry's name of it, such as `chat gpt-5` or `execute_tool terminal`. */
  name: z.string().max(MAX_SPAN_NAME),
  /** Position in the log of what shows it; `null` while the log has nothing of it. */
  seq: z.int().positive().nullable(),
  /** Begin, after the trace's `startedAt`. */
  at: Milliseconds,
  /** Length; `null` while it runs. */
  ms: Milliseconds.nullable(),
  status: z.enum(['ok', 'error', 'running']),
  /** Of an error. */
  code: z.string().max(100).optional(),
  promptTokens: z.int().nonnegative().optional(),
  completionTokens: z.int().nonnegative().optional(),
  /** The part of the prompt tokens that came from the provider's cache. */
  cachedTokens: z.int().nonnegative().optional(),
  /** Decimal. Absent where the price is unknown. */
  costUsd: z.string().optional(),
  firstByteMs: Milliseconds.optional(),
  /** Calls of the provider for one call of the agent, where it was more than one. */
  attempts: z.int().min(2).optional(),
  /**
   * Who answered the call: `openai`, `anthropic`, `azure`, `gemini`, `bedrock`. Absent where the gateway no longer has
   * that deployment.
   */
  provider: z.string().max(40).optional(),
  /** Had it been shorter, its turn would have ended sooner. */
  critical: z.literal(true).optional(),
  /**
   * Of a turn: how far the platform's clock is ahead of the sandbox's, and at most the delay of the fastest event more.
   * Milliseconds; negative when it is behind.
   */
  clockOffsetMs: z.int().optional(),
});
export type TraceSpan = z.infer<typeof TraceSpan>;

export const TraceTurn = z.object({
  /** Of its root. */
  span: SpanId,
  /** As in `traceparent` and in log lines, where it was kept; else made from conversation and message. */
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  /** Id of the user's message. */
  message: z.string(),
  /** First words of the message; empty while it is not delivered. */
  title: z.string().max(MAX_SPAN_NAME),
  /** Milliseconds of each part. Each moment counts once, so the sum is the turn's length so far. */
  parts: z.object(
    Object.fromEntries(TRACE_PARTS.map((part) => [part, Milliseconds])) as Record<TracePart, typeof Milliseconds>,
  ),
  calls: z.int().nonnegative(),
  tools: z.int().nonnegative(),
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  /** Decimal: the sum of its calls. */
  costUsd: z.string(),
  /** Longest spans that have no span below them, longest first. */
  longest: z.array(SpanId).max(MAX_LONGEST_SPANS),
});
export type TraceTurn = z.infer<typeof TraceTurn>;

/** `GET …/conversations/{id}/trace`. */
export const TraceQuery = z.object({
  /** The part of the trace after this position of the log: the `nextAfter` of the part before. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
});
export type TraceQuery = z.infer<typeof TraceQuery>;

export const ConversationTrace = z.object({
  conversationId: z.uuid(),
  /** What every `at` counts from. */
  startedAt: z.iso.datetime(),
  /** When this was read: how far what runs has come. */
  asOf: z.iso.datetime(),
  /** Last position of the log that it holds. */
  upto: z.int().nonnegative(),
  /**
   * `ledger`: calls are the gateway's, as billed. `log`: the gateway did not answer, and calls are what the agent wrote
   * of them.
   */
  calls: z.enum(['ledger', 'log']),
  turns: z.array(TraceTurn),
  /** Turn by turn, each as a tree from the top down. */
  spans: z.array(TraceSpan).max(MAX_TRACE_SPANS),
  /** There is more than fits. */
  truncated: z.boolean(),
  /** The `after` of the next part; `null` at the end of the log. */
  nextAfter: z.int().nonnegative().nullable(),
});
export type ConversationTrace = z.infer<typeof ConversationTrace>;

/**
 * A model call of a conversation as the ledger has it. `cost` is a decimal in USD; `priced: false` means an unknown
 * price, counted as 0.
 */
export const LedgerCall = z.object({
  id: z.uuid(),
  traceId: z.string(),
  model: z.string(),
  /**
   * Kind of provider of the deployment that answered; `null` where the gateway has that one no more, absent from a
   * gateway of before.
   */
  provider: z.string().nullish(),
  /** `agent`, `condenser`, `sub-agent`, `title`, … as the caller named it. */
  purpose: z.string(),
  attempts: z.int().nonnegative(),
  prompt: z.int().nonnegative(),
  cached: z.int().nonnegative(),
  completion: z.int().nonnegative(),
  cost: z.string(),
  priced: z.boolean(),
  status: z.enum(['ok', 'aborted', 'failed']),
  errorCode: z.string().nullable(),
  at: z.iso.datetime(),
  firstByteMs: z.number().nonnegative().nullable(),
  latencyMs: z.number().nonnegative(),
});
export type LedgerCall = z.infer<typeof LedgerCall>;
/**
 * `GET /internal/calls/{org}/{conversation}?from=&to=&limit=` of llm-gateway, with the master key: calls that began in
 * `[from, to)`, oldest first; `more`: they are not all.
 */
export const LedgerCalls = z.object({ calls: z.array(LedgerCall), more: z.boolean() });
export type LedgerCalls = z.infer<typeof LedgerCalls>;
