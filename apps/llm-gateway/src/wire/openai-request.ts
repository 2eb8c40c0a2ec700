import { booleanOf, type JsonObject, jsonText, listOf, numberOf, objectOf, textOf } from './json.js';
import type { ResponseFormat, Sampling } from './turns.js';

/** What chat and responses say alike. */

export function readSampling(body: JsonObject): Sampling {
  const given: Record<string, number> = {};
  const names = {
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    frequencyPenalty: 'frequency_penalty',
    presencePenalty: 'presence_penalty',
    seed: 'seed',
  };
  for (const [name, field] of Object.entries(names)) {
    const value = numberOf(body[field]);
    if (value !== null) given[name] = value;
  }
  return given;
}

export function readStop(value: unknown): readonly string[] {
  return (typeof value === 'string' ? [value] : listOf(value)).filter(
    (text): text is string => typeof text === 'string',
  );
}

export function readUserMetadata(body: JsonObject): {
  readonly user: string | null;
  readonly metadata: Readonly<Record<string, string>>;
} {
  const metadata = Object.entries(objectOf(body['metadata']) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { user: textOf(body['user']), metadata: Object.fromEntries(metadata) };
}

export function readResponseFormat(
  format: JsonObject | null,
  schemaOf: (format: JsonObject) => JsonObject,
): ResponseFormat | null {
  if (format?.['type'] === 'json_object') return { kind: 'json-object' };
  if (format?.['type'] !== 'json_schema') return null;
  const said = schemaOf(format);
  return {
    kind: 'json-schema',
    name: textOf(said['name']) ?? 'answer',
    description: textOf(said['description']),
    schema: objectOf(said['schema']) ?? {},
    strict: booleanOf(said['strict']),
  };
}

/** Some servers give arguments as an object instead of its text. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : (jsonText(value) ?? '');
}
