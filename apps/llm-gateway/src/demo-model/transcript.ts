/** One call of a tool since the last message of the user, with what it answered. */
export interface Round {
  readonly tool: string;
  /** `null` when there is no answer in the messages. */
  readonly result: string | null;
}

/** What the script reads of a conversation. */
export interface Transcript {
  /** From the system prompt; `null` when it names none. */
  readonly workingDirectory: string | null;
  /** Every message of the user since the last answer, as one text. */
  readonly prompt: string;
  /** The user had a finished answer before this message. */
  readonly followUp: boolean;
  readonly rounds: readonly Round[];
  readonly tools: ReadonlySet<string>;
}

interface WireMessage {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

/** Reads a request in OpenAI's form, leniently: what is not understood is left out. */
export function readTranscript(body: unknown): Transcript {
  const { messages, tools } = (typeof body === 'object' && body !== null ? body : {}) as {
    messages?: unknown;
    tools?: unknown;
  };
  const list = (Array.isArray(messages) ? messages : []).filter(
    (message): message is WireMessage => typeof message === 'object' && message !== null,
  );
  const system = list
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .map(textOf)
    .join('\n');
  const last = list.findLastIndex((message) => message.role === 'user');
  let first = last;
  while (first > 0 && list[first - 1]?.role === 'user') first -= 1;
  const results = new Map(
    list
      .slice(last + 1)
      .filter((message) => message.role === 'tool')
      .map((message) => [String(message.tool_call_id), textOf(message)]),
  );
  return {
    workingDirectory: workingDirectoryOf(system),
    prompt: list
      .slice(Math.max(0, first), last + 1)
      .map(textOf)
      .join('\n\n')
      .trim(),
    followUp: list.slice(0, Math.max(0, first)).some((message) => message.role === 'assistant'),
    rounds: list
      .slice(last + 1)
      .flatMap((message) =>
        callsOf(message).map((call) => ({ tool: call.name, result: results.get(call.id) ?? null })),
      ),
    tools: new Set((Array.isArray(tools) ? tools : []).map(toolNameOf).filter((name) => name !== null)),
  };
}

/** Text of a message whose content is a string or a list of parts. */
function textOf(message: WireMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return '';
  return message.content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '',
    )
    .join('');
}

function workingDirectoryOf(system: string): string | null {
  const match = /(?:working directory: *|project is in )(\/[^\s;,]*)/i.exec(system);
  return match?.[1]?.replace(/\.$/, '') ?? null;
}

function callsOf(message: WireMessage): Array<{ id: string; name: string }> {
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return [];
  return message.tool_calls.map((call: { id?: unknown; function?: { name?: unknown } } | null) => ({
    id: String(call?.id),
    name: String(call?.function?.name),
  }));
}

function toolNameOf(tool: unknown): string | null {
  const name = (tool as { function?: { name?: unknown } } | null)?.function?.name;
  return typeof name === 'string' ? name : null;
}
