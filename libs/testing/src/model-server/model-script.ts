/**
 * A tool call as the scripted model makes it. A string as `arguments` is sent as it is, so that it may be malformed.
 */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | string;
  /** Made from the request's number when absent. */
  readonly id?: string;
}

export interface ScriptedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** `cache_creation_tokens`: written into the cache, which costs more at some. */
  readonly prompt_tokens_details?: { readonly cached_tokens: number; readonly cache_creation_tokens?: number };
  /** Searches of the provider's own tool. */
  readonly web_searches?: number;
}

export interface ScriptedAnswer {
  /** Of the answer, and of its chunks. Made from the request's number when absent. */
  readonly id?: string;
  readonly text?: string;
  /** Sent as `reasoning_content`. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** `null` leaves usage out, as servers do that do not count. Absent: four characters a token. */
  readonly usage?: ScriptedUsage | null;
  readonly finishReason?: string;
  /** Before the first byte. Milliseconds. */
  readonly delayMs?: number;
  /** Between two chunks. Milliseconds. */
  readonly chunkDelayMs?: number;
  /** Characters of text or of arguments in one chunk. */
  readonly chunkLength?: number;
  /** The stream stays open for so long behind its last word. Milliseconds. */
  readonly lingerMs?: number;
}

/** Everything that a model server does to its clients besides answering. */
export type ModelFault =
  /** An error answer in OpenAI's form: 401, 402, 404, 429 (with Retry-After), 500, 503. */
  | {
      readonly fault: 'status';
      readonly status: number;
      readonly message?: string;
      readonly code?: string;
      readonly retryAfterSeconds?: number;
      readonly body?: string;
    }
  /** Accepts the request and never answers. */
  | { readonly fault: 'hang' }
  /** Streams `text`, then nothing more and no end. */
  | { readonly fault: 'hang-mid-stream'; readonly text?: string }
  /** Streams `text`, then breaks the connection. */
  | { readonly fault: 'cut-mid-stream'; readonly text?: string }
  /** Breaks the connection before any byte. */
  | { readonly fault: 'cut' }
  /** 200, `application/json` or an event stream, with text that does not parse. */
  | { readonly fault: 'malformed-json' }
  /** An event stream whose frames are broken, then one good frame and `[DONE]`. */
  | { readonly fault: 'malformed-sse' }
  /** One line of this many bytes without an end. Default 10 MiB. */
  | { readonly fault: 'huge-line'; readonly bytes?: number }
  /** 200 with a page of HTML. */
  | { readonly fault: 'wrong-content-type' }
  /** 200 and JSON that is not a completion. */
  | { readonly fault: 'nonsense' }
  /** An event stream that carries an error object where a chunk should be, as providers do when they fail late. */
  | { readonly fault: 'error-in-stream'; readonly text?: string; readonly message?: string };

export type ModelTurn = ScriptedAnswer | ModelFault;

/** One request as it arrived. */
export interface ModelRequest {
  /** 1 for the first request that the server saw. */
  readonly number: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: Buffer;
  readonly body: ModelRequestBody;
  /** performance.now() at its last byte. */
  readonly at: number;
  /** performance.now() when the client broke off before the answer was whole. */
  abortedAt: number | null;
  /** The answer was sent whole. */
  finished: boolean;
}

export interface ModelRequestBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly ModelRequestMessage[];
  readonly [field: string]: unknown;
}

export interface ModelRequestMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: ReadonlyArray<{
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }>;
  readonly tool_call_id?: string;
}

/** A list is used up in the order of requests, whoever sends them. A function decides by what the request says. */
export type ModelScript = readonly ModelTurn[] | ((request: ModelRequest) => ModelTurn | Promise<ModelTurn>);

/**
 * Turn n for a request that already holds n answers of the model since the last message of the user: right for many
 * conversations at once and for a request that is repeated. After the last turn it answers the last one again.
 */
export function byAnswersSoFar(turns: readonly ModelTurn[]): (request: ModelRequest) => ModelTurn {
  return (request) => {
    const messages = request.body.messages ?? [];
    const user = messages.findLastIndex((message) => message.role === 'user');
    const answers = messages.slice(user + 1).filter((message) => message.role === 'assistant').length;
    const turn = turns[Math.min(answers, turns.length - 1)];
    if (turn === undefined) throw new Error('the script has no turn');
    return turn;
  };
}

/** What a message says, whether its content is a string or a list of parts. */
export function textOfMessage(message: ModelRequestMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return '';
  return message.content
    .map((part: unknown) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('');
}
