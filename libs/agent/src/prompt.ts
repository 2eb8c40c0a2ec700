import type { ConversationEvent, EventOf } from '@slipway/contracts';
import type { ChatMessage, ToolCall } from '@slipway/llm';
import { TAKEN_IN } from './events.js';

/** Given to the model for an action that has no answer: whether it took effect cannot be known. */
export const INTERRUPTED_RESULT = 'interrupted: this tool call was stopped before it answered; it may or may not have had its effect';

/** One answer of the model, with what came of it. */
interface Turn {
  readonly responseId: string | null;
  text: string;
  readonly calls: ToolCall[];
  /** By position in `calls`. */
  readonly results: Array<string | undefined>;
  /** By position in `calls`; `null` for a call that was refused before it became an action. */
  readonly actionIds: Array<string | null>;
}

/**
 * The messages for the model, rebuilt from the log alone.
 *
 * A user's message stands where a step took it in (its `last_user_message_id`), so that it never comes between a tool call and its result.
 * A tool call without an answer gets `INTERRUPTED_RESULT`: providers refuse a conversation in which one is missing.
 */
export function messagesOf(events: readonly ConversationEvent[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const waiting: Array<EventOf<'MessageEvent'>> = [];
  let turn: Turn | null = null;
  const close = (): void => {
    if (turn === null) return;
    messages.push({ role: 'assistant', content: turn.text === '' ? null : turn.text, toolCalls: turn.calls });
    for (const [index, call] of turn.calls.entries()) messages.push({ role: 'tool', toolCallId: call.id, content: turn.results[index] ?? INTERRUPTED_RESULT });
    turn = null;
  };
  const turnOf = (responseId: string | null): Turn => {
    if (turn !== null && turn.responseId === responseId && responseId !== null) return turn;
    close();
    turn = { responseId, text: '', calls: [], results: [], actionIds: [] };
    return turn;
  };
  const say = (event: EventOf<'MessageEvent'>): void => {
    close();
    messages.push({ role: 'user', content: textOf(event.llm_message.content) });
  };
  for (const event of events) {
    switch (event.kind) {
      case 'SystemPromptEvent':
        if (messages.length === 0) messages.push({ role: 'system', content: event.system_prompt.text });
        break;
      case 'MessageEvent':
        if (event.source === 'user') waiting.push(event);
        else if (event.llm_message.role === 'user') say(event);
        else turnOf(event.llm_response_id ?? null).text += textOf(event.llm_message.content);
        break;
      case 'ConversationStateUpdateEvent': {
        // Each answer of the model begins with its usage.
        if (event.key === 'stats') close();
        if (event.key !== TAKEN_IN) break;
        const last = waiting.findIndex((message) => message.id === event.value);
        for (const message of waiting.splice(0, last + 1)) say(message);
        break;
      }
      case 'ActionEvent': {
        const current = turnOf(event.llm_response_id);
        current.text += textOf(event.thought);
        current.calls.push({ id: event.tool_call_id, name: event.tool_name, arguments: event.tool_call.arguments });
        current.actionIds.push(event.id);
        break;
      }
      case 'ObservationEvent': {
        const index = (turn as Turn | null)?.actionIds.indexOf(event.action_id) ?? -1;
        if (turn !== null && index !== -1) (turn as Turn).results[index] = observationText(event.observation);
        break;
      }
      case 'AgentErrorEvent': {
        let current = turn as Turn | null;
        let index = current?.calls.findLastIndex((call, at) => call.id === event.tool_call_id && current?.results[at] === undefined) ?? -1;
        if (current === null || index === -1) {
          // A call that never became an action: unknown tool, or arguments that could not be read. Only its error is in the log.
          current = current ?? turnOf(null);
          index = current.calls.push({ id: event.tool_call_id, name: event.tool_name, arguments: '{}' }) - 1;
          current.actionIds.push(null);
        }
        current.results[index] = event.error;
        break;
      }
      default:
        break;
    }
  }
  for (const message of waiting) say(message);
  close();
  return messages;
}

export function textOf(content: ReadonlyArray<{ text: string }>): string {
  return content.map((part) => part.text).join('');
}

/** What the model reads of an observation. */
function observationText(observation: EventOf<'ObservationEvent'>['observation']): string {
  const text = textOf(observation.content);
  const metadata =
    observation.kind === 'TerminalObservation'
      ? (observation['metadata'] as { working_dir?: unknown; suffix?: unknown; prefix?: unknown; exit_code?: unknown } | undefined)
      : undefined;
  const body = observation.is_error ? `[This is an error.]\n${text}` : text;
  if (metadata === undefined) return body === '' ? '[no output]' : body;
  const suffix = typeof metadata.suffix === 'string' && metadata.suffix !== '' ? metadata.suffix : `\n[exit code ${String(metadata.exit_code)}]`;
  const directory = typeof metadata.working_dir === 'string' ? `\n[working directory: ${metadata.working_dir}]` : '';
  return `${typeof metadata.prefix === 'string' ? metadata.prefix : ''}${body}${suffix}${directory}`;
}
