import { MAX_SEEN_PICTURE_BYTES, PICTURE_TYPES } from '@slipway/contracts/conversations';
import { type ConversationEvent, type EventOf, stateValueOf } from '@slipway/contracts/events';
import type { ChatMessage, PictureFile, ToolCall } from '@slipway/llm';
import { condensedOf, isSeenByModel, noticeOf } from './condenser/condensation.js';
import { asMessage } from './condenser/summary.js';
import { TAKEN_IN } from './events.js';
import type { PromptUnit } from './prompt-unit.js';

/** Given to the model for an action that has no answer: whether it took effect cannot be known. */
export const INTERRUPTED_RESULT =
  'interrupted: this tool call was stopped before it answered; it may or may not have had its effect';

/** Before the reason of a call that a user or a hook rejected. */
export const REJECTED = 'rejected: this tool call was not carried out. The reason:';

/** One answer of the model, with what came of it. */
interface Turn {
  readonly responseId: string | null;
  readonly position: number;
  readonly eventIds: string[];
  text: string;
  readonly calls: ToolCall[];
  /** By position in `calls`. */
  readonly results: Array<string | undefined>;
  /** By position in `calls`. */
  readonly images: Array<readonly string[] | undefined>;
  /** By position in `calls`; `null` for a call that was refused before it became an action. */
  readonly actionIds: Array<string | null>;
}

/**
 * The messages for the model, rebuilt from the log alone.
 *
 * A user's message stands where a step took it in (its `last_user_message_id`), so that it never comes between a tool
 * call and its result. A tool call without an answer gets `unanswered`: providers refuse a conversation in which one is
 * missing. What a condensation forgot is left out.
 */
export function messagesOf(events: readonly ConversationEvent[], unanswered = INTERRUPTED_RESULT): ChatMessage[] {
  return unitsOf(events, unanswered).flatMap(({ messages }) => messages);
}

/** As `messagesOf`, in the parts that a condensation may forget. */
export function unitsOf(events: readonly ConversationEvent[], unanswered = INTERRUPTED_RESULT): PromptUnit[] {
  const { forgotten, summary, offset } = condensedOf(events);
  const units: PromptUnit[] = [];
  /** The user's messages that no step has taken in, also forgotten ones: a marker may name them. */
  const waiting: Array<{ readonly event: EventOf<'MessageEvent'>; readonly position: number }> = [];
  let turn: Turn | null = null;
  /** Events so far that the model sees. */
  let seen = 0;
  /** Messages between a call and its answer are placed after them. */
  const later: PromptUnit[] = [];
  const close = (): void => {
    if (turn !== null) units.push(unitOfTurn(turn, unanswered));
    turn = null;
    units.push(...later.splice(0));
  };
  const turnOf = (responseId: string | null, eventId: string, position: number): Turn => {
    if (turn === null || turn.responseId !== responseId || responseId === null) {
      close();
      turn = { responseId, position, eventIds: [], text: '', calls: [], results: [], images: [], actionIds: [] };
    }
    turn.eventIds.push(eventId);
    return turn;
  };
  /** The summary stands in place of the first event that it summarizes. */
  let pending = summary;
  const summarize = (): void => {
    if (pending === null) return;
    close();
    units.push({
      kind: 'summary',
      messages: [{ role: 'user', content: asMessage(pending) }],
      eventIds: [],
      position: offset,
      open: false,
      summary: pending,
    });
    pending = null;
  };
  const said = (event: EventOf<'MessageEvent'>, position: number): PromptUnit => {
    const content = withAdded(textOf(event.llm_message.content), event.extended_content);
    const pictures = picturesOf(event);
    const message: ChatMessage = { role: 'user', content, ...(pictures.length === 0 ? {} : { pictures }) };
    return { kind: 'message', messages: [message], eventIds: [event.id], position, open: false };
  };
  const say = (event: EventOf<'MessageEvent'>, position: number): void => {
    if (forgotten.has(event.id)) {
      summarize();
      return;
    }
    close();
    units.push(said(event, position));
  };
  /** A call has no answer yet: a notice must not come between the two. */
  const isCalling = (): boolean => turn?.calls.some((_, index) => turn?.results[index] === undefined) ?? false;
  for (const event of events) {
    const isForgotten = forgotten.has(event.id);
    const position = seen;
    if (isSeenByModel(event) && !isForgotten) seen += 1;
    // A message of the user's is searched for the marker that names it.
    if (isForgotten && !(event.kind === 'MessageEvent' && event.source === 'user')) {
      summarize();
      continue;
    }
    switch (event.kind) {
      case 'SystemPromptEvent':
        // The last one holds, at the beginning: an agent that planned may have become one that works.
        if (units.length === 0 || units[0]?.kind === 'system') {
          const first = units[0] ?? { position, eventIds: [] };
          const messages = [{ role: 'system' as const, content: event.system_prompt.text }];
          units[0] = {
            kind: 'system',
            messages,
            eventIds: [...first.eventIds, event.id],
            position: first.position,
            open: false,
          };
        }
        break;
      case 'MessageEvent':
        if (event.source === 'user') waiting.push({ event, position });
        else if (event.llm_message.role === 'user' && isCalling()) later.push(said(event, position));
        else if (event.llm_message.role === 'user') say(event, position);
        else turnOf(event.llm_response_id ?? null, event.id, position).text += textOf(event.llm_message.content);
        break;
      case 'ConversationStateUpdateEvent': {
        // Each answer of the agent's model begins with its usage; a question beside the task, or a summary, is no
        // answer of it.
        const notice = noticeOf(event);
        if (notice !== '') {
          later.push({
            kind: 'message',
            messages: [{ role: 'user', content: notice }],
            eventIds: [event.id],
            position,
            open: false,
          });
          if (turn === null) close();
        }
        const stats = stateValueOf(event, 'stats');
        if (stats !== undefined && (stats.latest?.usage_id ?? 'agent') === 'agent') close();
        const takenIn = stateValueOf(event, TAKEN_IN);
        if (takenIn === undefined) break;
        const last = waiting.findIndex((message) => message.event.id === takenIn);
        for (const message of waiting.splice(0, last + 1)) say(message.event, message.position);
        break;
      }
      case 'ActionEvent': {
        const current = turnOf(event.llm_response_id, event.id, position);
        current.text += textOf(event.thought);
        current.calls.push({ id: event.tool_call_id, name: event.tool_name, arguments: event.tool_call.arguments });
        current.actionIds.push(event.id);
        break;
      }
      case 'UserRejectObservation':
      case 'ObservationEvent': {
        const current = turn as Turn | null;
        const index = current?.actionIds.indexOf(event.action_id) ?? -1;
        if (current === null || index === -1) break;
        current.results[index] =
          event.kind === 'ObservationEvent'
            ? withAdded(observationText(event.observation), event.extended_content)
            : `${REJECTED} ${event.rejection_reason}`;
        if (event.kind === 'ObservationEvent') current.images[index] = imagesOf(event.observation.content);
        current.eventIds.push(event.id);
        break;
      }
      case 'AgentErrorEvent': {
        let current = turn as Turn | null;
        let index =
          current?.calls.findLastIndex(
            (call, at) => call.id === event.tool_call_id && current?.results[at] === undefined,
          ) ?? -1;
        if (current === null || index === -1) {
          // A call that never became an action: unknown tool, or arguments that could not be read. Only its error is in
          // the log.
          current = current ?? turnOf(null, event.id, position);
          index =
            current.calls.push({ id: event.tool_call_id, name: nameForModel(event.tool_name), arguments: '{}' }) - 1;
          current.actionIds.push(null);
        }
        if (current.eventIds.at(-1) !== event.id) current.eventIds.push(event.id);
        current.results[index] = event.error;
        break;
      }
      default:
        break;
    }
  }
  for (const { event, position } of waiting) say(event, position);
  close();
  return units;
}

function unitOfTurn(turn: Turn, unanswered: string): PromptUnit {
  return {
    kind: 'turn',
    messages: [
      {
        role: 'assistant',
        content: turn.text.trim() === '' && turn.calls.length > 0 ? null : turn.text,
        toolCalls: turn.calls,
      },
      ...turn.calls.map((call, index): ChatMessage => {
        const images = turn.images[index] ?? [];
        return {
          role: 'tool',
          toolCallId: call.id,
          content: turn.results[index] ?? unanswered,
          ...(images.length === 0 ? {} : { images }),
        };
      }),
    ],
    eventIds: turn.eventIds,
    position: turn.position,
    open: turn.calls.some((_, index) => turn.results[index] === undefined),
  };
}

/** Longest name of a tool that every provider takes. */
const MAX_NAME = 64;

/**
 * A name that a model made up, in letters that every provider takes: with another one the whole conversation would be
 * refused from then on.
 */
function nameForModel(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME) || 'unknown';
}

/** The pictures among the parts, as data URLs: what was moved out of an event that was too long is none any more. */
function imagesOf(content: EventOf<'ObservationEvent'>['observation']['content']): string[] {
  return content
    .flatMap((part) => (part.type === 'image' ? part.image_urls : []))
    .filter((url) => /^data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*$/.test(url));
}

/** Pictures that came with a user's message and that a model can be shown. */
function picturesOf({ attachments = [] }: EventOf<'MessageEvent'>): PictureFile[] {
  return attachments.flatMap(({ path, media_type, size_bytes }) =>
    PICTURE_TYPES.has(media_type) && size_bytes <= MAX_SEEN_PICTURE_BYTES ? [{ path, mediaType: media_type }] : [],
  );
}

/** The text among the parts; pictures have none. */
export function textOf(content: ReadonlyArray<{ readonly type: string; readonly text?: unknown }>): string {
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

function withAdded(text: string, added: ReadonlyArray<{ readonly type: string; readonly text: string }> = []): string {
  return added.length === 0 ? text : `${text}\n\n${added.map((part) => part.text).join('\n\n')}`;
}

/** What the model reads of an observation. */
function observationText(observation: EventOf<'ObservationEvent'>['observation']): string {
  const text = textOf(observation.content);
  const metadata =
    observation.kind === 'TerminalObservation'
      ? (observation['metadata'] as
          | { working_dir?: unknown; suffix?: unknown; prefix?: unknown; exit_code?: unknown }
          | undefined)
      : undefined;
  const body = observation.is_error ? `[This is an error.]\n${text}` : text;
  if (metadata === undefined) return body === '' ? '[no output]' : body;
  const suffix =
    typeof metadata.suffix === 'string' && metadata.suffix !== ''
      ? metadata.suffix
      : `\n[exit code ${String(metadata.exit_code)}]`;
  const directory = typeof metadata.working_dir === 'string' ? `\n[working directory: ${metadata.working_dir}]` : '';
  return `${typeof metadata.prefix === 'string' ? metadata.prefix : ''}${body}${suffix}${directory}`;
}
