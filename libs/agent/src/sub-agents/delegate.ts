import { DelegateAction, MAX_NAMED_SUB_AGENTS } from '@slipway/contracts/actions';
import { type ConversationEvent, type EventOf } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { cutMiddle } from '../condenser/transcript.js';
import type { Observation, OwnToolContext } from '../ports.js';
import { toolsBesideOthers } from './beside-others.js';
import { DEFAULT_KIND, type SubAgentKind } from './kinds.js';
import { runSubAgent } from './run-sub-agent.js';
import { MAX_REPORT } from './run-task.js';

/** What OpenHands calls the kind of an agent that has none. */
const OPENHANDS_DEFAULT = 'default';

/** A sub-agent with a name. */
interface Named {
  readonly id: string;
  readonly subagent: string;
  readonly taskId: string;
}
type Kinds = ReadonlyMap<string, SubAgentKind>;
interface Ended extends Named {
  /** `completed`, or how its run ended. */
  readonly status: string;
  readonly text: string;
}

/**
 * The sub-agents with names that a log knows. Derived from the log alone: a new sandbox, or a fork, has them too. One
 * that is spawned again starts empty.
 */
export function namedIn(events: readonly ConversationEvent[]): ReadonlyMap<string, Named> {
  const asked = new Map<string, { readonly event: EventOf<'ActionEvent'>; readonly action: DelegateAction }>();
  const named = new Map<string, Named>();
  for (const event of events) {
    if (event.kind === 'ActionEvent' && event.action.kind === 'DelegateAction') {
      const parsed = DelegateAction.safeParse(event.action);
      if (parsed.success && parsed.data.command === 'spawn') asked.set(event.id, { event, action: parsed.data });
    }
    if (event.kind !== 'ObservationEvent' || event.observation.is_error) continue;
    const spawn = asked.get(event.action_id);
    if (spawn === undefined) continue;
    for (const each of namedBy(spawn.event.id, spawn.action)) named.set(each.id, each);
  }
  return named;
}

function namedBy(actionId: string, { ids, agent_types }: DelegateAction): Named[] {
  return [...new Set(ids ?? [])].map((id) => {
    const type = (agent_types?.[(ids ?? []).indexOf(id)] ?? '').trim();
    return {
      id,
      subagent: type === '' || type === OPENHANDS_DEFAULT ? DEFAULT_KIND : type,
      taskId: `delegate_${actionId.slice(0, 8)}_${id}`,
    };
  });
}

/**
 * Gives sub-agents names; each begins to exist with its first task. What cannot be done is an observation that says
 * why.
 */
export function spawn(action: DelegateAction, kinds: Kinds, { events, event }: OwnToolContext): Observation {
  const wanted = namedBy(event.id, action);
  if (wanted.length === 0)
    return answer('spawn', 'No sub-agent was spawned: `ids` must name at least one sub-agent.', true);
  if ((action.agent_types?.length ?? 0) > (action.ids?.length ?? 0))
    return answer(
      'spawn',
      `No sub-agent was spawned: there are ${action.agent_types?.length} agent_types for ${action.ids?.length} ids.`,
      true,
    );
  const strange = wanted.filter(({ subagent }) => !kinds.has(subagent)).map(({ subagent }) => JSON.stringify(subagent));
  if (strange.length > 0)
    return answer(
      'spawn',
      `No sub-agent was spawned: there is no kind of agent ${strange.join(', ')}. The kinds are: ${[...kinds.keys()].join(', ')}.`,
      true,
    );
  const known = namedIn(events);
  const all = new Set([...known.keys(), ...wanted.map(({ id }) => id)]);
  if (all.size > MAX_NAMED_SUB_AGENTS) {
    const there =
      known.size === 0
        ? ''
        : ` There are already: ${[...known.keys()].join(', ')}. Give them more tasks, or spawn one of them again.`;
    return answer(
      'spawn',
      `No sub-agent was spawned: a conversation has at most ${MAX_NAMED_SUB_AGENTS} named sub-agents.${there}`,
      true,
    );
  }
  const again = wanted.filter(({ id }) => known.has(id)).map(({ id }) => id);
  const anew =
    again.length === 0
      ? ''
      : ` ${again.join(', ')} ${again.length === 1 ? 'begins' : 'begin'} anew and ${again.length === 1 ? 'knows' : 'know'} nothing of before.`;
  return answer(
    'spawn',
    `Spawned ${wanted.length} sub-agents: ${wanted.map(({ id, subagent }) => `${id} (${subagent})`).join(', ')}.${anew}`,
  );
}

/**
 * Lets named sub-agents work beside each other, each in its own context, until all have ended. The failure of one
 * becomes a text and does not stop the others.
 * @throws the signal's reason when the parent is stopped, after every one of them has ended.
 */
export async function delegate(action: DelegateAction, kinds: Kinds, context: OwnToolContext): Promise<Observation> {
  const tasks = Object.entries(action.tasks ?? {});
  if (tasks.length === 0)
    return answer('delegate', 'Nothing was done: `tasks` must give at least one sub-agent a task.', true);
  const known = namedIn(context.events);
  const missing = tasks.filter(([id]) => !known.has(id)).map(([id]) => id);
  if (missing.length > 0) {
    const there =
      known.size === 0 ? 'No sub-agent has been spawned yet.' : `There are: ${[...known.keys()].join(', ')}.`;
    return answer(
      'delegate',
      `Nothing was done: there is no sub-agent ${missing.join(', ')}. ${there} Use the command spawn first.`,
      true,
    );
  }
  const beside = toolsBesideOthers(context.ports.tools);
  const ended = await Promise.all(
    tasks.map(async ([id, prompt]) => {
      const agent = known.get(id) as Named;
      try {
        return await work(agent, prompt, kinds, { ...context, ports: { ...context.ports, tools: beside.of(id) } });
      } catch (error) {
        return ofFailure(agent, error, context);
      } finally {
        beside.ended(id);
      }
    }),
  );
  context.signal.throwIfAborted();
  const failed = ended.filter(({ status }) => status !== 'completed').length;
  const share = Math.floor(MAX_REPORT / ended.length);
  const head = `${ended.length - failed} of ${ended.length} sub-agents finished their tasks.${failed === 0 ? '' : ' The others can be given a task again: they keep what they know.'}`;
  const text = [
    head,
    ...ended.map(
      (each, index) =>
        `${index + 1}. Agent ${each.id}${each.status === 'completed' ? '' : ` ERROR (${each.status})`}: ${cutMiddle(each.text, share)}`,
    ),
  ];
  const agents = ended.map(({ id, subagent, taskId, status }) => ({ id, subagent, task_id: taskId, status }));
  return { ...answer('delegate', text.join('\n\n'), failed === ended.length), agents };
}

async function work(agent: Named, prompt: string, kinds: Kinds, context: OwnToolContext): Promise<Ended> {
  const kind = kinds.get(agent.subagent);
  if (kind === undefined)
    return {
      ...agent,
      status: 'error',
      text: `There is no kind of agent "${agent.subagent}" any more. Spawn it again.`,
    };
  const assignment = { taskId: agent.taskId, prompt, usageId: `delegate:${agent.id}`, tools: context.ports.tools };
  const { outcome, said, why } = await runSubAgent(assignment, kind, context);
  if (outcome === 'finished')
    return { ...agent, status: 'completed', text: said === '' ? 'It finished without a word.' : said };
  return {
    ...agent,
    status: outcome,
    text: `It did not finish. ${why}${said === '' ? '' : `\nIts last words:\n${said}`}`,
  };
}

/** Text in place of a missing answer. What also blocks the parent shows with its own next event. */
function ofFailure(agent: Named, error: unknown, { ports, signal }: OwnToolContext): Ended {
  if (!signal.aborted && !(error instanceof SlipwayError)) ports.onFault(error);
  return {
    ...agent,
    status: 'error',
    text: error instanceof SlipwayError ? error.detail : 'It stopped because of a fault of its own.',
  };
}

function answer(command: DelegateAction['command'], text: string, isError = false): Observation {
  return { kind: 'DelegateObservation', content: [{ type: 'text', text }], is_error: isError, command, agents: [] };
}
