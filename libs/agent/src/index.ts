export { type EventBody, type EventStamp, lastStatus, stamp, statusUpdate, unansweredActions, untakenMessages } from './events.js';
export type { AgentLog, AgentPorts, ModelPort, RunControl, RunOutcome, RunSettings, ToolPort } from './ports.js';
export { textOf } from './prompt.js';
export { runAgent } from './run.js';
export { lastStats } from './stats.js';
export { systemPrompt } from './system-prompt.js';
export { STANDARD_TOOLS } from './tools/standard-tools.js';
export { define, type Observation, type OwnToolContext, type Tool } from './tools/tool.js';
export { Toolbox } from './tools/toolbox.js';
