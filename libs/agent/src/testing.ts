import { randomUUID } from 'node:crypto';
import type { SandboxAction, SandboxObservation } from '@slipway/contracts/actions';
import type { ConversationEvent } from '@slipway/contracts/events';
import { LlmRegistry } from '@slipway/llm';
import type { ModelServer } from '@slipway/testing';
import type { AgentPorts, RunControl, RunSettings, ToolPort } from './ports.js';
import { StatsBook } from './stats.js';
import { delegateTool } from './sub-agents/delegate-tool.js';
import { taskTool } from './sub-agents/task-tool.js';
import { STANDARD_TOOLS } from './tools/standard-tools.js';
import { Toolbox } from './tools/toolbox.js';

/** A log in memory, for tests of the loop. */
export class MemoryLog {
  readonly events: ConversationEvent[] = [];
  /** Awaited before each append: what a test does between two events. */
  before: (events: readonly ConversationEvent[]) => void | Promise<void> = () => {};

  async append(events: readonly ConversationEvent[]): Promise<void> {
    await this.before(events);
    this.events.push(...events);
  }

  async appendLast(events: readonly ConversationEvent[]): Promise<void> {
    this.events.push(...events);
  }

  async room(): Promise<void> {}

  say(text: string, id: string = randomUUID()): string {
    this.events.push({
      id,
      timestamp: new Date().toISOString(),
      source: 'user',
      kind: 'MessageEvent',
      llm_message: { role: 'user', content: [{ type: 'text', text }] },
    });
    return id;
  }

  get outline(): string[] {
    return this.events.map((event) =>
      event.kind === 'ConversationStateUpdateEvent'
        ? `${event.key}${event.key === 'execution_status' ? `=${String(event.value)}` : ''}`
        : event.kind,
    );
  }
}

export function terminalObservation(text: string, exitCode = 0, isError = false): SandboxObservation {
  return {
    kind: 'TerminalObservation',
    content: [{ type: 'text', text }],
    is_error: isError,
    command: '',
    exit_code: exitCode,
    timeout: false,
    metadata: {
      exit_code: exitCode,
      pid: 1,
      username: null,
      hostname: null,
      working_dir: '/w',
      py_interpreter_path: null,
      prefix: '',
      suffix: '',
    },
    full_output_save_dir: null,
  };
}

/** Ports with a real model client on a scripted server and tools that a test answers for. */
export function testPorts(
  log: MemoryLog,
  server: ModelServer,
  execute: (action: SandboxAction, signal: AbortSignal) => Promise<SandboxObservation>,
): AgentPorts & { waits: number[] } {
  const waits: number[] = [];
  const llms = new LlmRegistry({
    agent: { baseUrl: server.url, apiKey: null, model: 'scripted', idleTimeoutMs: 5_000 },
  });
  const tools: ToolPort = { execute: (action, { signal }) => execute(action, signal) };
  return {
    log,
    tools,
    hooks: null,
    toolbox: new Toolbox([...STANDARD_TOOLS, taskTool([]), delegateTool([])]),
    waits,
    models: (usage) => llms.get(usage),
    stats: new StatsBook(),
    clock: { now: () => new Date() },
    ids: { uuid: () => randomUUID() },
    random: () => 1,
    delay: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
    },
    onDelta: () => {},
    costOf: (_model, usage) => usage.promptTokens / 1_000,
    traceparent: () => '00-0-0-01',
    onRetry: () => {},
    onFault: (error) => {
      throw error;
    },
  };
}

export const SETTINGS: RunSettings = {
  maxIterations: 30,
  maxCostUsd: null,
  stuckDetection: true,
  modelRetries: 3,
  condenser: { automatic: true, maxTokens: null, maxEvents: null },
  confirmation: { policy: { kind: 'NeverConfirm' }, analyzer: null, rules: [] },
  mayCarryOut: () => true,
};

export function control(): RunControl & { stop: AbortController; pause: boolean } {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    stop,
    pause: false,
    pauseRequested(): boolean {
      return this.pause;
    },
  };
}
