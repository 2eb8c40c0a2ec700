export { askAgent } from './ask/ask-agent.js';
export { condensationAsked } from './condenser/condensation.js';
export { condenseAsAsked } from './condenser/condense.js';
export type { CondenserSettings } from './condenser/settings.js';
export { allows, asksFor, judge, subjectOf } from './confirmation/needs.js';
export { type EventBody, type EventStamp, pendingMessages, stamp, stampUpdate, statusUpdate } from './events.js';
export { finalResponse } from './final-response.js';
export { judge as judgeByAgent } from './hooks/judge.js';
export { sessionEnd } from './hooks/moments.js';
export type {
  AgentLog,
  AgentPorts,
  HookPort,
  ModelPort,
  Observation,
  OutputWatch,
  OwnToolContext,
  RunControl,
  RunOutcome,
  RunSettings,
  Tool,
  ToolPort,
} from './ports.js';
export { textOf } from './prompt.js';
export { runAgent } from './run.js';
export { type Assessment, assess } from './security/analyze.js';
export { activatedBy, broughtByFiles, skillsPrompt } from './skills/activation.js';
export { invokeSkillTool } from './skills/invoke-skill.js';
export { type Skill, skillOfFile, skillOfStart } from './skills/skill.js';
export { lastStats, listedStats, StatsBook } from './stats.js';
export { delegateTool } from './sub-agents/delegate-tool.js';
export { kindsOf, type SubAgentKind } from './sub-agents/kinds.js';
export { leftBehind } from './sub-agents/left-behind.js';
export { taskTool } from './sub-agents/task-tool.js';
export { saysUnavailable, systemPrompt, unavailablePrompt } from './system-prompt.js';
export { type McpCall, mcpTool } from './tools/mcp.js';
export { PLANNING, planningTools } from './tools/planning-file-editor.js';
export { STANDARD_TOOLS } from './tools/standard-tools.js';
export { define } from './tools/tool.js';
export { type ComingTools, Toolbox } from './tools/toolbox.js';
