import {
  type AgentPorts,
  activatedBy,
  broughtByFiles,
  type ComingTools,
  delegateTool,
  type EventStamp,
  type HookPort,
  invokeSkillTool,
  PLANNING,
  planningTools,
  type Skill,
  STANDARD_TOOLS,
  saysUnavailable,
  skillOfStart,
  skillsPrompt,
  stamp,
  systemPrompt,
  Toolbox,
  taskTool,
  unavailablePrompt,
} from '@slipway/agent';
import { type StartConversationRequest } from '@slipway/contracts/agent';
import { type ConversationEvent, type EventOf, HookConfig } from '@slipway/contracts/events';
import { readWorkspaceFiles, type WorkspaceFiles } from '../conversations/workspace-files.js';
import { filtered, listedTool, toolsOf } from '../openhands/openhands-tools.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import { hookPort, joinHooks } from './hook-port.js';

const READ_TIMEOUT_MS = 15_000;
const NO_FILES: WorkspaceFiles = { skills: [], hooks: null };
const NO_HOOKS = HookConfig.parse({});

/** Setup of a conversation's agent: tools, skills, hooks and system prompt. Made again at each start. */
export class AgentSetup {
  private constructor(
    readonly toolbox: Toolbox,
    private readonly skills: readonly Skill[],
    private readonly prompt: string,
    readonly hooks: HookPort | null,
    private readonly missing = '',
    private readonly plans = false,
    private readonly workingDir = '/',
  ) {}

  /** Before any start: nothing runs yet. */
  static blank(): AgentSetup {
    return new AgentSetup(new Toolbox(STANDARD_TOOLS), [], '', null);
  }

  /**
   * Skills of the workspace are read for conversations of the app; other clients bring theirs with them, as OpenHands'
   * do.
   */
  static async of(
    id: string,
    request: StartConversationRequest,
    actionServer: ActionServerClient,
    coming: ComingTools,
  ): Promise<AgentSetup> {
    const { agent, slipway, workspace } = request;
    const [unavailable, found] = await Promise.all([
      actionServer.unavailable(),
      slipway === undefined
        ? NO_FILES
        : readWorkspaceFiles(actionServer, workspace.working_dir, AbortSignal.timeout(READ_TIMEOUT_MS)),
    ]);
    const skills = [...(agent.agent_context?.skills ?? []).map(skillOfStart), ...found.skills].filter(
      ({ name }, index, all) => all.findIndex((other) => other.name === name) === index,
    );
    const suffix = [slipway?.systemMessageSuffix, agent.agent_context?.system_message_suffix ?? undefined]
      .filter((each) => each !== undefined)
      .join('\n\n');
    const base = agent.system_prompt ?? systemPrompt(workspace.working_dir, suffix);
    const definitions = request.agent_definitions ?? [];
    const tools = [...STANDARD_TOOLS, taskTool(definitions), delegateTool(definitions)];
    if (skills.some(({ shown }) => shown === 'listed')) tools.push(invokeSkillTool(skills));
    const plans = request.agent_type === 'plan';
    const chosen = filtered(toolsOf(agent, tools), agent);
    const wanted = plans ? planningTools(chosen) : chosen;
    const own = wanted.filter(({ kind }) => !Object.hasOwn(unavailable, kind));
    const missing = unavailablePrompt(
      wanted.flatMap(({ kind }) => (Object.hasOwn(unavailable, kind) ? [unavailable[kind] as string] : [])),
    );
    // Who plans changes nothing, and of a server's tools that cannot be known.
    const toolbox = plans ? new Toolbox(own) : new Toolbox(own, coming);
    const hooks = hookPort(
      joinHooks(request.hook_config ?? NO_HOOKS, found.hooks ?? NO_HOOKS),
      actionServer,
      id,
      workspace.working_dir,
    );
    return new AgentSetup(
      toolbox,
      skills,
      [base, ...(plans ? [PLANNING] : []), skillsPrompt(skills, base) ?? '', missing]
        .filter((part) => part !== '')
        .join('\n\n'),
      hooks,
      missing,
      plans,
      workspace.working_dir,
    );
  }

  /** Whether the system prompt matches: planning or working, and with these tools missing. */
  matches({ system_prompt: { text } }: EventOf<'SystemPromptEvent'>): boolean {
    return text.includes(PLANNING) === this.plans && saysUnavailable(text, this.missing);
  }

  systemPrompt(by: EventStamp): ConversationEvent {
    return stamp(by, {
      kind: 'SystemPromptEvent',
      source: 'agent',
      system_prompt: { type: 'text', text: this.prompt },
      tools: this.toolbox.tools.map(listedTool),
    });
  }

  /** Skills of the files that an action read or changed. */
  readonly skillsOf: NonNullable<AgentPorts['skillsOf']> = (action, events) =>
    broughtByFiles(action, this.workingDir, this.skills, events);

  /** What a message brings beside its own text. */
  broughtBy(
    text: string,
    events: readonly ConversationEvent[],
  ): Pick<EventOf<'MessageEvent'>, 'activated_skills' | 'extended_content'> {
    return activatedBy(text, this.skills, events);
  }
}
