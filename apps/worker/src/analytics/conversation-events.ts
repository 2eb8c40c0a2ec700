import type { MadeEvent } from '@slipway/analytics';
import { START_STATUSES } from '@slipway/contracts/conversations';
import { ERROR_CODES } from '@slipway/contracts/errors';
import { EXECUTION_STATUSES } from '@slipway/contracts/events';
import { type AnalyticsEvent, analyticsProvider, modelName } from '@slipway/contracts/operate';
import { z } from 'zod';

/** A line of a log, as far as an analytics event needs it. `at` is the database's time. */
export interface LogLine {
  readonly seq: number;
  readonly eventId: string;
  readonly at: Date;
  readonly kind: string;
  /** Written by the platform, not by a sandbox. */
  readonly platform: boolean;
  readonly source: unknown;
  readonly failed: unknown;
  readonly code: unknown;
  readonly key: unknown;
  readonly value: unknown;
}

export interface ConversationFacts {
  readonly id: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly model: string;
}

const Run = z.object({
  /** Milliseconds since 1970. */
  at: z.number(),
  steps: z.number(),
  toolCalls: z.number(),
  approvals: z.number(),
  interrupted: z.boolean(),
  cost: z.number(),
  tokens: z.number(),
});

/** What of a log the next events need, kept between two reads. */
export const ConversationState = z.object({
  turns: z.number().default(0),
  firstEvent: z.boolean().default(false),
  firstTool: z.boolean().default(false),
  run: Run.nullable().default(null),
  cost: z.number().default(0),
  tokens: z.number().default(0),
  /** End of the last run: model calls before it are reported. Milliseconds since 1970. */
  callsUntil: z.number().nullable().default(null),
  failedStep: z.enum(START_STATUSES).nullable().default(null),
  /** Ids of pull requests that were opened, and that were merged. */
  opened: z.array(z.string()).default([]),
  merged: z.array(z.string()).default([]),
  /** Last commit that was published of a pull request, by its id. */
  pushed: z.record(z.string(), z.string()).default({}),
  made: z.number().default(0),
});
export type ConversationState = z.infer<typeof ConversationState>;

/** Most events that are made of one conversation: a sandbox writes its log. */
const MAX_EVENTS = 1_000;
/** Pull requests of a conversation that are remembered. */
const MAX_PULL_REQUESTS = 100;

/** Beyond it a number is no cost and no count, but something that a sandbox made up. */
const MAX_NUMBER = 1e9;
const Amount = z.number().min(0).max(MAX_NUMBER).catch(0);
const Stats = z.object({ cost: Amount, prompt: Amount, completion: Amount });
const StartUpdate = z.object({
  status: z.enum(START_STATUSES),
  state: z.string(),
  code: z.enum(ERROR_CODES).optional().catch(undefined),
});
const PullRequestUpdate = z.object({
  id: z.string().max(100),
  provider: z.string(),
  number: z.number().nullable(),
  state: z.string(),
  headSha: z.string().max(100).nullable(),
  publish: z.string(),
  createdAt: z.iso.datetime(),
});
const ENDS: Readonly<Record<string, 'finished' | 'error' | 'stuck' | 'stopped'>> = {
  finished: 'finished',
  error: 'error',
  stuck: 'stuck',
  paused: 'stopped',
  idle: 'stopped',
};

export interface ReadLines {
  readonly state: ConversationState;
  readonly events: MadeEvent[];
  /** Runs that ended in these lines, each from the end of the one before. Milliseconds since 1970. */
  readonly runs: ReadonlyArray<{ readonly from: number; readonly to: number }>;
}

/**
 * The events of the next lines of a log. Pure: the same lines make the same events with the same sources, however they
 * are cut into pages. What a sandbox wrote decides numbers and enums only; starts and pull requests count where the
 * platform wrote them.
 */
export function readConversationLines(
  conversation: ConversationFacts,
  before: ConversationState,
  lines: readonly LogLine[],
): ReadLines {
  const reader = new Reader(conversation, structuredClone(before));
  for (const line of lines) reader.read(line);
  return { state: reader.state, events: reader.events, runs: reader.runs };
}

class Reader {
  readonly events: MadeEvent[] = [];
  readonly runs: ReadLines['runs'][number][] = [];

  constructor(
    private readonly conversation: ConversationFacts,
    readonly state: ConversationState,
  ) {}

  read(line: LogLine): void {
    const { state } = this;
    switch (line.kind) {
      case 'MessageEvent':
        if (line.source === 'user') state.turns += 1;
        else this.seen(line);
        break;
      case 'ActionEvent':
        this.seen(line);
        if (state.run !== null) state.run.toolCalls += 1;
        break;
      case 'ObservationEvent':
        if (line.failed !== true && !state.firstTool) {
          state.firstTool = true;
          this.make(this.conversation.id, line, {
            name: 'first_tool_succeeded',
            properties: { seconds: this.age(line) },
          });
        }
        break;
      case 'InterruptEvent':
        if (state.run !== null) state.run.interrupted = true;
        break;
      case 'ConversationErrorEvent':
        if (state.run !== null) this.failed(line, line.code, 'RUN');
        break;
      case 'ConversationStateUpdateEvent':
        this.update(line);
        break;
    }
  }

  private update(line: LogLine): void {
    switch (line.key) {
      case 'execution_status':
        this.execution(line);
        break;
      case 'stats':
        this.stats(line);
        break;
      case 'start_task':
        if (line.platform) this.start(line);
        break;
      case 'pull_request':
        if (line.platform) this.pullRequest(line);
        break;
    }
  }

  private execution(line: LogLine): void {
    const { state } = this;
    const status = EXECUTION_STATUSES.find((each) => each === line.value);
    if (status === 'running')
      state.run ??= {
        at: line.at.getTime(),
        steps: 0,
        toolCalls: 0,
        approvals: 0,
        interrupted: false,
        cost: state.cost,
        tokens: state.tokens,
      };
    else if (status === 'waiting_for_confirmation') {
      if (state.run !== null) state.run.approvals += 1;
    } else if (status !== undefined) this.end(line, ENDS[status]);
  }

  private end(line: LogLine, result: (typeof ENDS)[string] | undefined): void {
    const { run, turns, cost, tokens } = this.state;
    if (run === null || result === undefined) return;
    this.state.run = null;
    const to = line.at.getTime();
    // A call begins a moment before its run is in the log.
    this.runs.push({ from: this.state.callsUntil ?? this.conversation.createdAt.getTime(), to });
    this.state.callsUntil = to;
    this.make(line.eventId, line, {
      name: 'agent_task_completed',
      properties: {
        result,
        turns,
        steps: run.steps,
        tool_calls: run.toolCalls,
        minutes: rounded((line.at.getTime() - run.at) / 60_000, 2),
        cost_usd: rounded(cost - run.cost, 6),
        tokens: Math.max(0, tokens - run.tokens),
        model: modelName(this.conversation.model),
        interrupted: run.interrupted,
        approvals: run.approvals,
      },
    });
  }

  private stats(line: LogLine): void {
    const read = Stats.safeParse(line.value).data;
    if (read === undefined) return;
    const { state } = this;
    state.cost = Math.max(state.cost, read.cost);
    state.tokens = Math.max(state.tokens, Math.round(read.prompt + read.completion));
    if (state.run !== null) state.run.steps += 1;
  }

  private start(line: LogLine): void {
    const step = StartUpdate.safeParse(line.value).data;
    if (step === undefined) return;
    if (step.state === 'failed' && step.status !== 'ERROR') this.state.failedStep = step.status;
    else if (step.state === 'failed') {
      this.failed(line, step.code, this.state.failedStep ?? 'WORKING');
      this.state.failedStep = null;
    }
  }

  private pullRequest(line: LogLine): void {
    const pull = PullRequestUpdate.safeParse(line.value).data;
    if (pull === undefined) return;
    const { state } = this;
    const provider = analyticsProvider(pull.provider);
    const isKnown = pull.id in state.pushed || Object.keys(state.pushed).length < MAX_PULL_REQUESTS;
    if (pull.publish === 'done' && pull.headSha !== null && isKnown && state.pushed[pull.id] !== pull.headSha) {
      state.pushed[pull.id] = pull.headSha;
      // The numbers are filled in by who reads the workspace's last changes.
      this.make(line.eventId, line, { name: 'changes_pushed', properties: { files: 0, lines: 0 } });
    }
    if (pull.number !== null && !state.opened.includes(pull.id) && state.opened.length < MAX_PULL_REQUESTS) {
      state.opened.push(pull.id);
      this.make(pull.id, line, { name: 'pull_request_opened', properties: { provider } });
    }
    if (pull.state === 'merged' && !state.merged.includes(pull.id) && state.merged.length < MAX_PULL_REQUESTS) {
      state.merged.push(pull.id);
      const hours = Math.max(0, line.at.getTime() - Date.parse(pull.createdAt)) / 3_600_000;
      this.make(pull.id, line, {
        name: 'pull_request_merged',
        properties: { provider, hours_open: rounded(hours, 3), cost_usd: rounded(state.cost, 6) },
      });
    }
  }

  private seen(line: LogLine): void {
    if (this.state.firstEvent) return;
    this.state.firstEvent = true;
    this.make(this.conversation.id, line, { name: 'first_event_seen', properties: { seconds: this.age(line) } });
  }

  private failed(line: LogLine, code: unknown, step: (typeof START_STATUSES)[number] | 'RUN'): void {
    const known = ERROR_CODES.find((each) => each === code) ?? 'other';
    this.make(line.eventId, line, { name: 'conversation_failed', properties: { code: known, step } });
  }

  private age(line: LogLine): number {
    return rounded(Math.max(0, line.at.getTime() - this.conversation.createdAt.getTime()) / 1_000, 3);
  }

  private make(source: string, line: LogLine, event: AnalyticsEvent): void {
    if (this.state.made >= MAX_EVENTS) return;
    this.state.made += 1;
    this.events.push({
      event,
      source: `${this.conversation.id} ${source}`,
      userId: this.conversation.createdBy,
      at: line.at,
    });
  }
}

/** At least 0, so that no clock and no rounding makes a property that the catalogue refuses. */
function rounded(value: number, digits: number): number {
  return Math.max(0, Math.round(value * 10 ** digits) / 10 ** digits);
}
