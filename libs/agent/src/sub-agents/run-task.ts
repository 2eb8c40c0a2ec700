import type { ConversationEvent, TaskAction } from '@slipway/contracts';
import { pendingActions } from '@slipway/domain';
import { cutMiddle } from '../condenser/transcript.js';
import { stamp, statusUpdate } from '../events.js';
import { finalResponse } from '../final-response.js';
import type { AgentPorts, RunOutcome, RunSettings } from '../ports.js';
import { runAgent } from '../run.js';
import { lastStats, StatsBook } from '../stats.js';
import type { Observation, OwnToolContext } from '../tools/tool.js';
import { Toolbox } from '../tools/toolbox.js';
import { type SubAgentKind, toolsOf } from './kinds.js';
import { eventsOfTask, SubAgentLog } from './sub-agent-log.js';

/** Longest report that reaches the parent. Characters. */
const MAX_REPORT = 30_000;
/** How often a sub-agent may go on after it asked for something that needs a person. */
const MAX_REFUSALS = 10;
const NOT_ALLOWED = 'This needs a word from a person, and a sub-agent cannot ask for it. Do without it, or finish and say that it is needed.';
const INTRODUCTION = `You are a sub-agent: another agent gave you one task, and reads nothing of your work but your last message. End with finish, and report in it what was asked for:
findings with exact names and places, what you changed, what you could not do. You cannot ask back.`;

/**
 * Works on a task until its agent has finished or cannot go on; either is an observation for the parent.
 * @throws the signal's reason when the parent is stopped; the sub-agent's own log then ends as a stopped run's does.
 */
export async function runTask(task: TaskAction, kind: SubAgentKind, { ports, settings, event, signal }: OwnToolContext): Promise<Observation> {
  const known = task.resume !== null && task.resume !== undefined && eventsOfTask(ports.log.events, task.resume).length > 0 ? task.resume : null;
  const taskId = known ?? `task_${event.id.slice(0, 8)}`;
  const log = new SubAgentLog(ports, { task_id: taskId, action_id: event.id, subagent: kind.name });
  const toolbox = new Toolbox(toolsOf(kind, ports.toolbox.tools));
  const own = statsOf(ports, log.events, kind.name);
  const child: AgentPorts = {
    ...ports,
    log,
    toolbox,
    stats: own,
    // Tools are asked for whoever calls them; the rest is about the person and the whole conversation.
    hooks:
      ports.hooks === null
        ? null
        : {
            ...ports.hooks,
            run: ports.hooks.run.bind(ports.hooks),
            config: { ...ports.hooks.config, user_prompt_submit: [], session_start: [], session_end: [], stop: [] },
          },
    models: (usage) => ports.models(usage === 'agent' ? 'sub-agent' : usage),
    // Nobody reads along: the screen would take it for the parent's own words.
    onDelta: () => {},
  };
  if (known === null) {
    const text = systemPromptOf(kind, ports.log.events);
    const tools = toolbox.definitions.map(({ name, description }) => ({ kind: 'ToolDefinition', title: name, name, description }));
    await log.append([stamp(ports, { kind: 'SystemPromptEvent', source: 'agent', system_prompt: { type: 'text', text }, tools })]);
  }
  const prompt =
    known === null && task.resume ? `${task.prompt}\n\n(You were meant to go on with ${task.resume}, of which nothing is known any more.)` : task.prompt;
  await log.append([stamp(ports, { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text: prompt }] } })]);
  const outcome = await runWithoutPerson(child, childSettings(settings, kind, ports, own), signal);
  if (signal.aborted) throw signal.reason;
  return observationOf(outcome, log.events, { taskId, subagent: kind.name });
}

/** What would wait for a person is refused, and the agent goes on without it. */
async function runWithoutPerson(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<RunOutcome> {
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

function childSettings(settings: RunSettings, kind: SubAgentKind, parent: AgentPorts, own: StatsBook): RunSettings {
  return {
    get maxIterations() {
      return Math.min(settings.maxIterations, kind.maxIterations);
    },
    /** What is left of the conversation's limit, by the sub-agent's own count. */
    get maxCostUsd() {
      return settings.maxCostUsd === null ? null : settings.maxCostUsd - parent.stats.value.accumulated_cost + own.value.accumulated_cost;
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
  };
}

/** A book of its own that counts for the parent too, there under its kind. */
function statsOf(ports: AgentPorts, events: readonly ConversationEvent[], kind: string): StatsBook {
  const own = new StatsBook(lastStats(events));
  const add = own.add.bind(own);
  own.add = (call) => {
    ports.stats.add({ ...call, usageId: call.usageId === 'agent' ? `task:${kind}` : call.usageId });
    return add(call);
  };
  return own;
}

function systemPromptOf(kind: SubAgentKind, events: readonly ConversationEvent[]): string {
  const parent = events.findLast((event) => event.kind === 'SystemPromptEvent');
  const inherited = kind.alone || parent?.kind !== 'SystemPromptEvent' ? [] : [parent.system_prompt.text];
  return [...inherited, ...(kind.prompt === '' ? [] : [kind.prompt]), INTRODUCTION].join('\n\n');
}

function observationOf(outcome: RunOutcome, events: readonly ConversationEvent[], { taskId, subagent }: { taskId: string; subagent: string }): Observation {
  const said = finalResponse(events);
  const failure = events.findLast((event) => event.kind === 'ConversationErrorEvent');
  const done = outcome === 'finished';
  const why = failure?.kind === 'ConversationErrorEvent' && !done ? failure.detail : `It ended as ${outcome}.`;
  const text = done
    ? `${said === '' ? 'The sub-agent finished without a word.' : said}\n\n[task_id: ${taskId}]`
    : `The sub-agent did not finish. ${why}${said === '' ? '' : `\nIts last words:\n${said}`}\n\n[task_id: ${taskId}; give it as resume to let it go on]`;
  return {
    kind: 'TaskObservation',
    content: [{ type: 'text', text: cutMiddle(text, MAX_REPORT) }],
    is_error: !done,
    task_id: taskId,
    subagent,
    status: done ? 'completed' : outcome,
  };
}
