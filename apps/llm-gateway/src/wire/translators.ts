import { SlipwayError } from '@slipway/errors';
import { ChatAnswerReader } from './chat-answer-reader.js';
import { ChatAnswerWriter } from './chat-answer-writer.js';
import { readChatRequest, writeChatRequest } from './chat-request.js';
import type { Dialect } from './dialect.js';
import { type JsonObject, objectOf } from './json.js';
import { MessagesAnswerReader } from './messages-answer-reader.js';
import { MessagesAnswerWriter } from './messages-answer-writer.js';
import { readMessagesRequest, writeMessagesRequest } from './messages-request.js';
import { refuseWhatIsOfOneDialect } from './one-dialect-only.js';
import { ResponsesAnswerReader } from './responses-answer-reader.js';
import { ResponsesAnswerWriter } from './responses-answer-writer.js';
import { readResponsesRequest, writeResponsesRequest } from './responses-request.js';
import type { SignatureOrigin } from './signatures.js';
import type { Traits } from './traits.js';
import type { AnswerReader, AnswerWriter, TurnsRequest } from './turns.js';

/** The dialects that can be translated into one another. */
export type Spoken = Exclude<Dialect, 'embeddings'>;

interface Translator {
  readonly readRequest: (body: JsonObject) => TurnsRequest;
  readonly writeRequest: (request: TurnsRequest, traits: Traits) => JsonObject;
  readonly answerReader: () => AnswerReader;
  readonly answerWriter: (request: TurnsRequest, now: () => number) => AnswerWriter;
  /**
   * Who signs the reasoning that a provider of this dialect gives. Chat has it in LiteLLM's form only, which is
   * Anthropic's.
   */
  readonly signedBy: SignatureOrigin;
}

export const TRANSLATORS: Readonly<Record<Spoken, Translator>> = {
  chat: {
    readRequest: readChatRequest,
    writeRequest: writeChatRequest,
    answerReader: () => new ChatAnswerReader(),
    answerWriter: (request, now) => new ChatAnswerWriter(request.includeUsage, now),
    signedBy: 'anthropic',
  },
  responses: {
    readRequest: readResponsesRequest,
    writeRequest: writeResponsesRequest,
    answerReader: () => new ResponsesAnswerReader(),
    answerWriter: (request, now) => new ResponsesAnswerWriter(request, now),
    signedBy: 'openai',
  },
  messages: {
    readRequest: readMessagesRequest,
    writeRequest: writeMessagesRequest,
    answerReader: () => new MessagesAnswerReader(),
    answerWriter: () => new MessagesAnswerWriter(),
    signedBy: 'anthropic',
  },
};

/**
 * Translates a request of this dialect for a provider of another.
 * @throws SlipwayError `request.not-json`; `request.invalid` with the path of what is unknown, or has no equivalent.
 */
export function readRequest(dialect: Spoken, body: Buffer): TurnsRequest {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new SlipwayError('request.not-json', 'The body is not a JSON object.');
  }
  const request = TRANSLATORS[dialect].readRequest(objectOf(value) ?? {});
  refuseWhatIsOfOneDialect(request);
  return request;
}
