import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentLog, AgentPorts, StatsBook, Toolbox, ToolPort } from '@slipway/agent';
import type { LlmSettings } from '@slipway/contracts/agent';
import type { StreamingDelta } from '@slipway/contracts/events';
import { type CompletionUsage, costUsd, type LlmConfig, priceOf } from '@slipway/llm';
import type { Logger } from '@slipway/telemetry';
import { listedTool } from '../openhands/openhands-tools.js';

export interface AgentPortsOptions {
  readonly log: AgentLog;
  readonly models: AgentPorts['models'];
  readonly stats: StatsBook;
  readonly tools: ToolPort;
  readonly holdsSecret: (text: string) => boolean;
  readonly toolbox: Toolbox;
  readonly hooks: AgentPorts['hooks'];
  readonly readPicture: NonNullable<AgentPorts['readPicture']>;
  readonly skillsOf: NonNullable<AgentPorts['skillsOf']>;
  readonly onDelta: (delta: StreamingDelta) => void;
  readonly traceparent: () => string;
  readonly logger: Logger;
}

/** The agent's ports on this machine. */
export function agentPorts(options: AgentPortsOptions): AgentPorts {
  return {
    ...options,
    listTools: (tools) => tools.map(listedTool),
    costOf,
    clock: { now: () => new Date() },
    ids: { uuid: () => randomUUID() },
    random: Math.random,
    delay: (ms, signal) => wait(ms, undefined, { signal }),
    onRetry: (failure) => options.logger.warn(failure, 'model call failed, will retry'),
    onFault: (error) => options.logger.error({ err: error }, 'run failed'),
  };
}

/** Seconds of silence after which a model is given up, when the start does not say. */
const DEFAULT_TIMEOUT_S = 300;

export function llmConfigOf(llm: LlmSettings): LlmConfig {
  return {
    baseUrl: llm.base_url ?? 'https://api.openai.com/v1',
    apiKey: llm.api_key ?? null,
    model: llm.model,
    idleTimeoutMs: (llm.timeout ?? DEFAULT_TIMEOUT_S) * 1000,
    ...(llm.temperature === null || llm.temperature === undefined ? {} : { temperature: llm.temperature }),
    ...(llm.max_output_tokens === null || llm.max_output_tokens === undefined
      ? {}
      : { maxOutputTokens: llm.max_output_tokens }),
    ...(typeof llm.max_input_tokens === 'number' ? { contextWindow: llm.max_input_tokens } : {}),
    ...(llm.native_tool_calling === false ? { nativeToolCalling: false } : {}),
  };
}

/** US dollars by our price list, for calls whose cost the gateway does not say; 0 for a model missing in it. */
function costOf(model: string, usage: CompletionUsage): number {
  const price = priceOf(model);
  return price === null
    ? 0
    : costUsd(price, {
        promptTokens: usage.promptTokens,
        completionTokens: usage.completionTokens,
        cachedTokens: usage.cacheReadTokens,
      });
}
