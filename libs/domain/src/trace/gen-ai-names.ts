import type { TraceSpan } from '@slipway/contracts/conversations';

/**
 * OpenTelemetry's names for what agents and models do, still "Development" there: they change. This file is the only
 * one that has them. Content (`gen_ai.input.messages`, `gen_ai.tool.call.arguments`, …) is not here: a trace has none.
 */
export const GEN_AI_SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0';

export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  conversation: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  errorType: 'error.type',
} as const;

/** Ours, where OpenTelemetry has none. */
export const SLIPWAY = {
  eventSeq: 'slipway.event.seq',
  startStep: 'slipway.start.step',
  cost: 'slipway.cost.usd',
  attempts: 'slipway.call.attempts',
  critical: 'slipway.critical_path',
  clockOffset: 'slipway.clock.offset_ms',
} as const;

const OPERATIONS: Readonly<Partial<Record<TraceSpan['kind'], string>>> = {
  agent: 'invoke_agent',
  sub_agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
};

/** OpenTelemetry's well-known values for the gateway's kinds of providers; any other is sent as it is. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  gemini: 'gcp.gemini',
  bedrock: 'aws.bedrock',
};

/** Attributes of a span under OpenTelemetry's names. Times in seconds, as there. */
export function attributesOf(
  span: TraceSpan,
  conversationId: string,
): Readonly<Record<string, string | number | boolean>> {
  const operation = OPERATIONS[span.kind];
  const subject = span.name.slice(span.name.indexOf(' ') + 1);
  const given: Record<string, string | number | boolean | undefined> = {
    [GEN_AI.conversation]: conversationId,
    [GEN_AI.operation]: operation,
    [GEN_AI.agentName]: operation === 'invoke_agent' ? subject : undefined,
    [GEN_AI.provider]: span.provider === undefined ? undefined : (PROVIDERS[span.provider] ?? span.provider),
    [GEN_AI.requestModel]: span.kind === 'chat' ? subject : undefined,
    [GEN_AI.inputTokens]: span.promptTokens,
    [GEN_AI.outputTokens]: span.completionTokens,
    [GEN_AI.cachedTokens]: span.cachedTokens,
    [GEN_AI.firstChunk]: span.firstByteMs === undefined ? undefined : span.firstByteMs / 1_000,
    [GEN_AI.toolName]: span.kind === 'tool' ? subject : undefined,
    [GEN_AI.toolType]: span.kind === 'tool' ? 'function' : undefined,
    [GEN_AI.errorType]: span.status === 'error' ? (span.code ?? '_OTHER') : undefined,
    [SLIPWAY.eventSeq]: span.seq ?? undefined,
    [SLIPWAY.startStep]: span.kind === 'start_step' ? subject : undefined,
    [SLIPWAY.cost]: span.costUsd === undefined ? undefined : Number(span.costUsd),
    [SLIPWAY.attempts]: span.attempts,
    [SLIPWAY.critical]: span.critical,
    [SLIPWAY.clockOffset]: span.clockOffsetMs,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined),
  );
}
