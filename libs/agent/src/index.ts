export { type EventBody, type EventStamp, lastStatus, stamp, statusUpdate, unansweredActions, untakenMessages } from './events.js';
export type { AgentLog, AgentPorts, ModelPort, RunControl, RunOutcome, RunSettings, ToolPort } from './ports.js';
export { INTERRUPTED_RESULT, messagesOf, textOf } from './prompt.js';
export { runAgent } from './run.js';
export { lastStats } from './stats.js';
export { detectStuck } from './stuck.js';
export { systemPrompt } from './system-prompt.js';
export { parseToolCall, TOOLS } from './tools.js';
