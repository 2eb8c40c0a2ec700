import type { ConversationEvent } from '@slipway/contracts/events';
import { pendingActions, unansweredActions } from '@slipway/domain';
import { stamp, statusUpdate } from '../events.js';
import { finalResponse } from '../final-response.js';
import type { AgentPorts, RunOutcome, RunSettings, ToolPort } from '../ports.js';
import { INTERRUPTED_RESULT } from '../prompt.js';
import { runAgent } from '../run.js';
import { lastStats, StatsBook } from '../stats.js';
import { Toolbox } from '../tools/toolbox.js';
import { type SubAgentKind, toolsOf } from './kinds.js';
import { SubAgentLog } from './sub-agent-log.js';

/** How often a sub-agent may go on after a request that needs a user. */
const MAX_REFUSALS = 10;
const NOT_ALLOWED =
  'This needs confirmation by a user, and a sub-agent cannot ask for it. Do without it, or finish and say that it is needed.';
const INTRODUCTION = `You are a sub-agent: another agent gave you one task, and reads nothing of your work but your last message. End with finish, and report in it what was asked for:
findings with exact names and places, what you changed, what you could not do. You cannot ask back.`;

/** One piece of work for a sub-agent. */
export interface Assignment {
  /** Whose log it is: a sub-agent that has one goes on with what it knows. */
  readonly taskId: string;
  readonly prompt: string;
  /** What its calls are counted under in the parent's book. */
  readonly usageId: string;
  /** In place of the parent's. */
  readonly tools?: ToolPort;
  /** In place of the prompt of every sub-agent; `null`: its kind has the whole prompt. */
  readonly introduction?: string | null;
}

/** Whom it works for; `event` is the action in whose place its steps are shown. */
export interface SubAgentContext {
  readonly ports: AgentPorts;
  readonly settings: RunSettings;
  readonly event: { readonly id: string };
  readonly signal: AbortSignal;
}

/** How a sub-agent's work ended. */
export interface SubAgentReport {
  readonly outcome: RunOutcome;
  /** Its last words; empty when it said nothing. */
  readonly said: string;
  /** Why it did not finish, as a sentence; empty when it did. */
  readonly why: string;
}

/**
 * Lets a sub-agent work until it has finished or cannot go on, in the limits and on the budget of its parent.
 * @throws the signal's reason when the parent is stopped; the sub-agent's own log then ends as a stopped run's does.
 */
export async function runSubAgent(
  assignment: Assignment,
  kind: SubAgentKind,
  { ports, settings, event, signal }: SubAgentContext,
): Promise<SubAgentReport> {
  const { taskId, prompt } = assignment;
  const log = new SubAgentLog(ports, { task_id: taskId, action_id: event.id, subagent: kind.name });
  const isNew = log.events.length === 0;
  const toolbox = new Toolbox(toolsOf(kind, ports.toolbox.tools));
  const own = statsOf(ports, log.events, assignment.usageId);
  // Its tools are those of its beginning.
  const { listTools: _, ...inherited } = ports;
  const child: AgentPorts = {
    ...inherited,
    log,
    toolbox,
    stats: own,
    // The limit is the conversation's, and so is what counts against it: others may work on it at the same time.
    spent: ports.spent ?? ports.stats,
    tools: assignment.tools ?? ports.tools,
    // Pre-tool hooks run for every caller; the others are about the user and the whole conversation.
    hooks:
      ports.hooks === null
        ? null
        : {
            ...ports.hooks,
            run: ports.hooks.run.bind(ports.hooks),
            config: { ...ports.hooks.config, user_prompt_submit: [], session_start: [], session_end: [], stop: [] },
          },
    models: (usage) => ports.models(usage === 'agent' ? 'sub-agent' : usage),
    // What its tools print has the id of its call. Its own words stay unseen until they are in its log: the screen
    // would take them for the parent's.
    onDelta: (delta) => {
      if (delta.channel === 'progress') ports.onDelta(delta);
    },
  };
  if (isNew) {
    const text = systemPromptOf(kind, ports.log.events, assignment.introduction);
    const tools = toolbox.definitions.map(({ name, description }) => ({
      kind: 'ToolDefinition',
      title: name,
      name,
      description,
    }));
    await log.append([
      stamp(ports, { kind: 'SystemPromptEvent', source: 'agent', system_prompt: { type: 'text', text }, tools }),
    ]);
  }
  await log.append([
    ...leftUnanswered(ports, log.events),
    stamp(ports, {
      kind: 'MessageEvent',
      source: 'user',
      llm_message: { role: 'user', content: [{ type: 'text', text: prompt }] },
    }),
  ]);
  const outcome = await runWithoutUser(child, childSettings(settings, kind), signal);
  if (signal.aborted) throw signal.reason;
  return { outcome, said: finalResponse(log.events), why: outcome === 'finished' ? '' : reasonOf(outcome, log.events) };
}

/** A call that a previous process interrupted: no other place answers it. */
function leftUnanswered(ports: AgentPorts, events: readonly ConversationEvent[]): ConversationEvent[] {
  return unansweredActions(events).map(({ tool_name, tool_call_id }) =>
    stamp(ports, { kind: 'AgentErrorEvent', source: 'agent', tool_name, tool_call_id, error: INTERRUPTED_RESULT }),
  );
}

/** A call that would wait for a user is refused, and the agent goes on without it. */
async function runWithoutUser(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<RunOutcome> {
  for (let refusals = 0; ; refusals += 1) {
    const outcome = await runAgent(ports, settings, { signal, pauseRequested: () => false });
    if (outcome !== 'waiting' || refusals === MAX_REFUSALS) return outcome;
    const refused = pendingActions(ports.log.events).map((action) =>
      stamp(ports, {
        kind: 'UserRejectObservation',
        source: 'environment',
        action_id: action.id,
        tool_name: action.tool_name,
        tool_call_id: action.tool_call_id,
        rejection_reason: NOT_ALLOWED,
        rejection_source: 'hook',
      }),
    );
    await ports.log.append([...refused, statusUpdate(ports, 'idle')]);
  }
}

function childSettings(settings: RunSettings, kind: SubAgentKind): RunSettings {
  return {
    get maxIterations() {
      return Math.min(settings.maxIterations, kind.maxIterations);
    },
    get maxCostUsd() {
      return settings.maxCostUsd;
    },
    get stuckDetection() {
      return settings.stuckDetection;
    },
    get modelRetries() {
      return settings.modelRetries;
    },
    get confirmation() {
      return settings.confirmation;
    },
    condenser: settings.condenser,
    mayCarryOut: settings.mayCarryOut,
  };
}

/** A book of its own that counts for the parent too, there under the name that its work has. */
function statsOf(ports: AgentPorts, events: readonly ConversationEvent[], usageId: string): StatsBook {
  const own = new StatsBook(lastStats(events));
  const add = own.add.bind(own);
  own.add = (call) => {
    ports.stats.add({ ...call, usageId: call.usageId === 'agent' ? usageId : call.usageId });
    return add(call);
  };
  return own;
}

function systemPromptOf(
  kind: SubAgentKind,
  events: readonly ConversationEvent[],
  introduction: string | null = INTRODUCTION,
): string {
  const parent = events.findLast((event) => event.kind === 'SystemPromptEvent');
  const inherited = kind.alone || parent?.kind !== 'SystemPromptEvent' ? [] : [parent.system_prompt.text];
  return [
    ...inherited,
    ...(kind.prompt === '' ? [] : [kind.prompt]),
    ...(introduction === null ? [] : [introduction]),
  ].join('\n\n');
}

function reasonOf(outcome: RunOutcome, events: readonly ConversationEvent[]): string {
  const failure = events.findLast((event) => event.kind === 'ConversationErrorEvent');
  return failure?.kind === 'ConversationErrorEvent' ? failure.detail : `It ended as ${outcome}.`;
}
