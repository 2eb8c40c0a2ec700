import { SlipwayError } from '@slipway/errors';
import { estimateTokens, NO_USAGE, type Usage } from '../calls/usage.js';
import type { Answer } from './exchange.js';
import { invalid, type JsonObject, numberOf, parseObject, textOf } from './json.js';

/** What `/v1/embeddings` asks for, for providers that are asked in a form of their own. */
export interface EmbeddingsRequest {
  readonly inputs: readonly string[];
  /** `null`: the model's own. */
  readonly dimensions: number | null;
  /** How each vector is written: OpenAI's clients ask for base64 by themselves. */
  readonly encoding: 'float' | 'base64';
  /** All of the body, for fields that one provider has alone. */
  readonly body: JsonObject;
}

/** What a provider has answered. */
export interface Vectors {
  readonly vectors: readonly (readonly number[])[];
  /** `null`: it does not say. */
  readonly promptTokens: number | null;
}

/** @throws SlipwayError `request.not-json`, `request.invalid`; tokens instead of text are of OpenAI's models alone. */
export function readEmbeddingsRequest(bytes: Buffer): EmbeddingsRequest {
  const body = parseObject(bytes.toString('utf8'));
  if (body === null) throw new SlipwayError('request.not-json', 'The body is not an object of JSON.');
  const { input } = body;
  const inputs = typeof input === 'string' ? [input] : Array.isArray(input) ? input : [];
  if (inputs.length === 0 || !inputs.every((text): text is string => typeof text === 'string' && text !== ''))
    throw invalid('input', 'this model takes a text, or a list of texts, and none may be empty');
  const dimensions = numberOf(body['dimensions']);
  if (
    body['dimensions'] !== undefined &&
    body['dimensions'] !== null &&
    (dimensions === null || !Number.isInteger(dimensions) || dimensions < 1)
  )
    throw invalid('dimensions', 'must be a whole number above 0');
  return { inputs, dimensions, encoding: textOf(body['encoding_format']) === 'base64' ? 'base64' : 'float', body };
}

/** A list of numbers, as it came from a provider; `null`: it is none. */
export function vectorOf(value: unknown): readonly number[] | null {
  return Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'number' && Number.isFinite(one))
    ? (value as number[])
    : null;
}

/** Says a provider's vectors as OpenAI does. There are no streams of them. */
export class EmbeddingsAnswer implements Answer {
  readonly contentType = 'application/json';
  readonly streams = /^$/;
  readonly characters = 0;
  readonly bytes = 0;
  readonly frames = 0;
  readonly passesThrough = false;
  readonly error = null;
  begun = false;
  complete = false;
  readonly cutShort = false;
  usage: Usage | null = null;

  constructor(
    private readonly request: EmbeddingsRequest,
    private readonly model: string,
    /** `null`: the answer is none of this API. */
    private readonly read: (answer: JsonObject) => Vectors | null,
  ) {}

  push(): null {
    return null;
  }

  end(): null {
    return null;
  }

  whole(body: Buffer): Buffer {
    const answer = parseObject(body.toString('utf8'));
    const found = answer === null ? null : this.read(answer);
    const { inputs, encoding } = this.request;
    if (found === null || found.vectors.length !== inputs.length)
      throw new SlipwayError('model.bad-response', 'The answer of the model does not hold a vector for each text.');
    this.begun = true;
    this.complete = true;
    if (found.promptTokens !== null) this.usage = { ...NO_USAGE, promptTokens: found.promptTokens };
    const promptTokens = found.promptTokens ?? estimateTokens(inputs.reduce((sum, text) => sum + text.length, 0));
    const data = found.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? vector : inBase64(vector),
    }));
    return Buffer.from(
      JSON.stringify({
        object: 'list',
        model: this.model,
        data,
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
      }),
    );
  }
}

/** Floats of four bytes, the lowest first, on every machine. */
function inBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
