import { callModel } from '../model-call.js';
import type { AgentPorts, RunSettings } from '../ports.js';
import { messagesOf } from '../prompt.js';

/** Stands where a call has no answer yet, while the agent works. */
const UNDER_WAY = 'still running: this tool call has not answered yet';
const FRAME = `A question about your work so far, beside the task: it changes nothing of what you do next. Answer it shortly from what you know; call no tool.
The question:`;

/**
 * Answers a question from what the agent knows, while it works or is idle. Only its cost enters the log, and no tool is
 * run: the tools are named to the model only because its providers refuse a history of calls without them.
 * @throws `model.*`, `budget.exhausted`, or the signal's reason.
 */
export async function askAgent(
  ports: AgentPorts,
  settings: RunSettings,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const request = {
    messages: [...messagesOf(ports.log.events, UNDER_WAY), { role: 'user' as const, content: `${FRAME} ${question}` }],
    tools: ports.toolbox.definitions,
  };
  const { content, toolCalls } = await callModel(ports, {
    usage: 'ask-agent',
    request,
    retries: settings.modelRetries,
    signal,
  });
  if (content.trim() !== '') return content;
  const wanted = [...new Set(toolCalls.map(({ name }) => name))].join(', ');
  return wanted === ''
    ? 'The agent has no answer to this.'
    : `The agent cannot say without looking: it wanted to use ${wanted}. Send it as a message to let it.`;
}
