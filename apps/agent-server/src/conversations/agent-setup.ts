import {
  activatedBy,
  type EventStamp,
  invokeSkillTool,
  type Skill,
  STANDARD_TOOLS,
  skillOfStart,
  skillsPrompt,
  stamp,
  systemPrompt,
  Toolbox,
  taskTool,
} from '@slipway/agent';
import type { ConversationEvent, EventOf, StartConversationRequest } from '@slipway/contracts';
import { listedTool, toolsOf } from '../openhands/openhands-tools.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import { readSkillFiles } from './skill-files.js';

const READ_TIMEOUT_MS = 15_000;

/** What the agent of a conversation is: its tools, its skills, and what it is told at its beginning. Made anew at each start. */
export class AgentSetup {
  private constructor(
    readonly toolbox: Toolbox,
    private readonly skills: readonly Skill[],
    private readonly prompt: string,
  ) {}

  /** Before any start: nothing runs yet. */
  static blank(): AgentSetup {
    return new AgentSetup(new Toolbox(STANDARD_TOOLS), [], '');
  }

  /** Skills of the workspace are read for conversations of the app; other clients bring theirs with them, as OpenHands' do. */
  static async of(request: StartConversationRequest, actionServer: ActionServerClient): Promise<AgentSetup> {
    const { agent, slipway, workspace } = request;
    const [lacks, found] = await Promise.all([
      actionServer.lacks(),
      slipway === undefined ? [] : readSkillFiles(actionServer, workspace.working_dir, AbortSignal.timeout(READ_TIMEOUT_MS)),
    ]);
    const skills = [...(agent.agent_context?.skills ?? []).map(skillOfStart), ...found].filter(
      ({ name }, index, all) => all.findIndex((other) => other.name === name) === index,
    );
    const suffix = [slipway?.systemMessageSuffix, agent.agent_context?.system_message_suffix ?? undefined].filter((each) => each !== undefined).join('\n\n');
    const base = agent.system_prompt ?? systemPrompt(workspace.working_dir, suffix);
    const tools = [...STANDARD_TOOLS, taskTool(request.agent_definitions ?? [])];
    if (skills.some(({ shown }) => shown === 'listed')) tools.push(invokeSkillTool(skills));
    const toolbox = new Toolbox(toolsOf(agent, tools).filter(({ kind }) => !Object.hasOwn(lacks, kind)));
    return new AgentSetup(toolbox, skills, [base, skillsPrompt(skills, base)].filter((part) => part !== undefined).join('\n\n'));
  }

  systemPrompt(by: EventStamp): ConversationEvent {
    return stamp(by, {
      kind: 'SystemPromptEvent',
      source: 'agent',
      system_prompt: { type: 'text', text: this.prompt },
      tools: this.toolbox.tools.map(listedTool),
    });
  }

  /** What a message brings beside its own text. */
  broughtBy(text: string, events: readonly ConversationEvent[]): Pick<EventOf<'MessageEvent'>, 'activated_skills' | 'extended_content'> {
    return activatedBy(text, this.skills, events);
  }
}
