import { SlipwayError } from '@slipway/errors';
import type { ProviderFormat } from '../providers/format.js';
import { providerOf } from '../providers/providers.js';
import { type Address, plainHeaders } from './address.js';
import type { Dialect } from './dialect.js';
import { EmbeddingsAnswer, readEmbeddingsRequest } from './embeddings-request.js';
import type { Asked, Exchange, OpenExchange, Target } from './exchange.js';
import { PassThroughAnswer } from './pass-through-answer.js';
import { asksForUsage, bodyFor, withoutAdditions, withoutForeignReasoning } from './pass-through-body.js';
import { readRoutingFields } from './routing-fields.js';
import { type SignatureOrigin, withSignaturesOf } from './signatures.js';
import { type Traits, traitsOf } from './traits.js';
import { TranslatedAnswer } from './translated-answer.js';
import { readRequest, type Spoken, TRANSLATORS } from './translators.js';
import type { TurnsRequest } from './turns.js';

/**
 * The same call for one target: the caller's own bytes where the target speaks its dialect, else said in the first of
 * those that it does speak.
 */
export const openExchange: OpenExchange = (asked, target) => {
  try {
    return open(asked, target);
  } catch (error) {
    // JSON is read to any depth, and walked and written to that of the stack.
    throw error instanceof RangeError
      ? new SlipwayError('request.invalid', 'The request is nested too deeply to be said to this model.')
      : error;
  }
};

function open(asked: Asked, target: Target): Exchange {
  const { upstream } = providerOf(target.provider);
  if (typeof upstream !== 'function') return inOwnFormat(asked, target, upstream);
  if (target.speaks.includes(asked.dialect)) return passThrough(asked, target, upstream);
  const spoken = target.speaks.find((dialect): dialect is Spoken => dialect !== 'embeddings');
  if (asked.dialect === 'embeddings' || spoken === undefined) throw notOffered(asked.dialect);
  return translated(asked, { caller: asked.dialect, target, spoken, address: upstream });
}

function passThrough(asked: Asked, target: Target, address: Address): Exchange {
  const known = withoutForeignReasoning(asked.body, asked.dialect);
  const traits = knownTraits(target);
  const own = asked.dialect === 'chat' && !traits.chatAdditions ? withoutAdditions(known) : known;
  const fields = own === asked.body ? asked.fields : readRoutingFields(own, asked.dialect);
  return {
    method: 'POST',
    ...address(asked.dialect, asked, target),
    body: bodyFor(own, fields, {
      dialect: asked.dialect,
      model: target.model,
      askForUsage: asked.stream && asked.dialect === 'chat',
      limit: asked.limit ?? null,
      searches: asked.searches ?? null,
      traits,
    }),
    answer: new PassThroughAnswer(
      asked.dialect,
      asked.stream,
      asked.dialect !== 'chat' || !asked.stream || asksForUsage(own, fields),
    ),
  };
}

/** By target, since its traits cost more than all else here. */
const traitsByTarget = new WeakMap<Target, Traits>();

function knownTraits(target: Target): Traits {
  let known = traitsByTarget.get(target);
  if (known === undefined) {
    known = traitsOf(target);
    traitsByTarget.set(target, known);
  }
  return known;
}

interface TranslatedCall {
  readonly caller: Spoken;
  readonly target: Target;
  readonly spoken: Spoken;
  readonly address: Address;
}

function translated(asked: Asked, { caller, target, spoken, address }: TranslatedCall): Exchange {
  const { writeRequest, answerReader, signedBy } = TRANSLATORS[spoken];
  const request = askedOf(asked, caller, target, signedBy);
  const body = writeRequest(request, traitsOf(target));
  return {
    method: 'POST',
    ...address(spoken, asked, target),
    body: Buffer.from(JSON.stringify(body)),
    answer: new TranslatedAnswer({
      reader: answerReader(),
      writer: TRANSLATORS[caller].answerWriter(request, seconds),
      caller,
      stream: asked.stream,
      signedBy,
      streams: EVENT_STREAM,
    }),
  };
}

function inOwnFormat(asked: Asked, target: Target, format: ProviderFormat): Exchange {
  const caller = asked.dialect;
  if (caller === 'embeddings') return embeddings(asked, target, format);
  const request = askedOf(asked, caller, target, format.signedBy);
  const written = format.write(request, target, asked.headers);
  return {
    method: 'POST',
    ...written,
    headers: { ...plainHeaders(asked), ...written.headers },
    answer: new TranslatedAnswer({
      reader: format.read(target),
      writer: TRANSLATORS[caller].answerWriter(request, seconds),
      caller,
      stream: asked.stream,
      signedBy: format.signedBy,
      streams: format.streams,
    }),
  };
}

function embeddings(asked: Asked, target: Target, format: ProviderFormat): Exchange {
  const request = readEmbeddingsRequest(asked.body);
  const found = format.embed(request, target);
  if (found === null) throw notOffered(asked.dialect);
  const { written, read } = found;
  return {
    method: 'POST',
    ...written,
    headers: { ...plainHeaders(asked), ...written.headers },
    answer: new EmbeddingsAnswer(request, asked.fields.model, read),
  };
}

/**
 * What is asked, as far as it may be and this model can: clients of one provider's API ask for answers as long as its
 * models give, which others refuse.
 */
function askedOf(asked: Asked, caller: Spoken, target: Target, signedBy: SignatureOrigin): TurnsRequest {
  const request = withSignaturesOf(readRequest(caller, asked.body), signedBy);
  const limits = [request.maxOutputTokens, asked.limit, target.maxOutputTokens].flatMap((limit) => limit ?? []);
  // A longest answer alone asks for none.
  if (request.maxOutputTokens === null && (asked.limit ?? null) === null) return request;
  // Some servers read 0 as no limit.
  const limit = Math.max(1, Math.min(...limits));
  return limit === request.maxOutputTokens ? request : { ...request, maxOutputTokens: limit };
}

const EVENT_STREAM = /^text\/event-stream\b/i;

/** Only a mark for people in an answer. */
function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

function notOffered(dialect: Dialect): SlipwayError {
  return new SlipwayError(
    'request.invalid',
    dialect === 'embeddings'
      ? 'model: this model gives no embeddings'
      : 'model: this model cannot be asked in this API',
  );
}
