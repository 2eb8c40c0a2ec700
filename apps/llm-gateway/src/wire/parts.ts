import { type JsonObject, objectOf, parseObject, said, textOf } from './json.js';
import type {
  Base64Source,
  CacheMark,
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  Turn,
  TurnsRequest,
  UrlSource,
} from './turns.js';

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;

/** `data:…;base64,…` as its bytes, anything else as an address. */
export function sourceOfUrl(url: string): Base64Source | UrlSource {
  const data = DATA_URL.exec(url.slice(0, 200));
  return data === null
    ? { kind: 'url', url }
    : { kind: 'base64', mediaType: data[1] ?? '', data: url.slice(data[0].length) };
}

export function urlOfSource(source: Base64Source | UrlSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/** `cache_control` in Anthropic's form, which LiteLLM and OpenRouter take in chat too. */
export function readCacheMark(value: unknown): { readonly cache?: CacheMark } {
  const mark = objectOf(value);
  if (mark === null) return {};
  const ttl = textOf(mark['ttl']);
  return { cache: { ttl: ttl === '5m' || ttl === '1h' ? ttl : null } };
}

export function cacheControl(cache: CacheMark | undefined): JsonObject {
  return cache === undefined ? {} : { cache_control: said({ type: 'ephemeral', ttl: cache.ttl }) };
}

export function isText(part: Part): part is TextPart {
  return part.kind === 'text';
}

/** Images as the dialects of OpenAI name them. */
export function imageOf(url: string, detail: unknown, cache: unknown): ImagePart {
  const word = textOf(detail);
  return {
    kind: 'image',
    source: sourceOfUrl(url),
    ...(word === null ? {} : { detail: word }),
    ...readCacheMark(cache),
  };
}

/** The arguments of a call as an object; broken JSON is handed on as what it is. */
export function argumentsOf(call: Pick<ToolCallPart, 'arguments'>): JsonObject {
  if (call.arguments.trim() === '') return {};
  return parseObject(call.arguments) ?? { INVALID_JSON: call.arguments };
}

/** For dialects that take instructions in one place only: all of them, in their order, and the turns without them. */
export function withSystemFirst(request: TurnsRequest): {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
} {
  if (request.turns.every(({ role }) => role !== 'system')) return request;
  return {
    system: [
      ...request.system,
      ...request.turns.flatMap(({ role, parts }) => (role === 'system' ? parts.filter(isText) : [])),
    ],
    turns: request.turns.filter(({ role }) => role !== 'system'),
  };
}

/**
 * For dialects whose roles must take turns: neighbours of one role as one, the results of tools before everything else
 * in it.
 */
export function merged(turns: readonly Turn[]): Turn[] {
  const all: Turn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role === turn.role) all[all.length - 1] = { role: turn.role, parts: [...last.parts, ...turn.parts] };
    else all.push(turn);
  }
  return all.map((turn) =>
    turn.role === 'user'
      ? {
          role: 'user',
          parts: [
            ...turn.parts.filter(({ kind }) => kind === 'tool-result'),
            ...turn.parts.filter(({ kind }) => kind !== 'tool-result'),
          ],
        }
      : turn,
  );
}
