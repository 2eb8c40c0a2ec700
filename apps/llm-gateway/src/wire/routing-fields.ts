import { SlipwayError } from '@slipway/errors';
import type { Dialect } from './dialect.js';
import { type Member, notJson, type Scan, type Span, scanObject, skipSpace, type TypeVisitor } from './json-scan.js';
import { MAY_ATTACH, OFFERED } from './offered-fields.js';

export type { Span } from './json-scan.js';

/** What the gateway must know of a request. The remaining body is not parsed and goes to the provider byte for byte. */
export interface RoutingFields {
  readonly model: string;
  /** Where the model's name stands, with its quotes: a deployment may know the model by another. */
  readonly modelAt: Span;
  readonly stream: boolean;
  /**
   * Longest answer that the caller asks for (`max_tokens`, `max_completion_tokens`, `max_output_tokens`). Tokens;
   * `null` when it does not say.
   */
  readonly maxOutputTokens: number | null;
  /** Answers at once: `n` of chat. */
  readonly choices: number;
  /** Where the value of `stream_options` stands, if it is there. */
  readonly streamOptions: Span | null;
  /** It offers tools. */
  readonly tools: boolean;
  /** Types of the tools, once each; a tool that says none is `''`. */
  readonly toolTypes: readonly string[];
  /** Something may be attached to a message: `attachmentsOf` knows for sure. */
  readonly mayAttach: boolean;
  /** Names may be written with escapes, so that a search for their bytes does not find them. */
  readonly escaped: boolean;
  /** `service_tier`; `null` when it does not say. */
  readonly serviceTier: string | null;
  /** Values of the fields that this dialect has here, by their names. */
  readonly at: ReadonlyMap<string, Span>;
  readonly members: readonly Member[];
  /** The first position inside of the object. */
  readonly inside: number;
}

/** More answers than anybody offers. */
const MAX_CHOICES = 128;

/** The field that holds what is asked, and whether it must be a list. */
const ASKED: Readonly<Record<Dialect, { readonly name: string; readonly list: boolean }>> = {
  chat: { name: 'messages', list: true },
  messages: { name: 'messages', list: true },
  responses: { name: 'input', list: false },
  embeddings: { name: 'input', list: false },
};
/** Fields whose parts are searched for attachments. */
const CARRIERS: ReadonlySet<string> = new Set(['messages', 'input', 'system']);
/** Longest name of a type that is of interest. Bytes. */
const MAX_TYPE = 64;

/**
 * Finds the routing fields of a JSON object in one pass over its bytes.
 *
 * @throws SlipwayError `request.not-json` when it is no object, `request.invalid` when a field that is known here is
 * missing or wrong, and when any object has a name twice.
 */
export function readRoutingFields(body: Buffer, dialect: Dialect): RoutingFields {
  const toolTypes = new Set<string>();
  const seen = { attached: false };
  const scan = scanObject(body, visitors(body, toolTypes, seen));
  const at = placesOf(scan, dialect);
  const value = (name: string): unknown => {
    const place = at.get(name);
    if (place === undefined) return undefined;
    try {
      return JSON.parse(body.toString('utf8', place.start, place.end));
    } catch {
      throw notJson(`the value of ${name} cannot be read`);
    }
  };
  const model = value('model');
  const modelAt = at.get('model');
  if (modelAt === undefined || typeof model !== 'string' || model === '' || model.length > 200)
    throw new SlipwayError('request.invalid', 'model: name one of GET /v1/models');
  const stream = value('stream') ?? false;
  if (typeof stream !== 'boolean') throw new SlipwayError('request.invalid', 'stream: true or false');
  const asked = ASKED[dialect];
  const first = body[at.get(asked.name)?.start ?? body.length];
  if (first !== 0x5b && (asked.list || first !== 0x22))
    throw new SlipwayError(
      'request.invalid',
      `${asked.name}: ${asked.list ? 'a list' : 'a text or a list'} is required`,
    );
  if ((value('background') ?? false) !== false)
    throw new SlipwayError(
      'request.invalid',
      'background: only answers that are waited for are offered here; leave it out',
    );
  const tools = at.get('tools');
  const tier = value('service_tier') ?? null;
  if (tier !== null && typeof tier !== 'string') throw new SlipwayError('request.invalid', 'service_tier: a text');
  return {
    model,
    modelAt,
    stream,
    maxOutputTokens: longest(value, dialect),
    choices: choicesOf(value('n')),
    streamOptions: at.get('stream_options') ?? null,
    tools: tools !== undefined && body[tools.start] === 0x5b && body[skipSpace(body, tools.start + 1)] !== 0x5d,
    toolTypes: [...toolTypes],
    mayAttach: seen.attached || scan.addressed || scan.escaped,
    escaped: scan.escaped,
    serviceTier: tier,
    at,
    members: scan.members,
    inside: scan.inside,
  };
}

/** Values of known fields. */
function placesOf({ members }: Scan, dialect: Dialect): ReadonlyMap<string, Span> {
  const offered = OFFERED[dialect];
  const at = new Map<string, Span>();
  for (const { name, value } of members) {
    if (name !== null && offered.has(name)) at.set(name, value);
  }
  return at;
}

function visitors(
  body: Buffer,
  toolTypes: Set<string>,
  seen: { attached: boolean },
): (name: string | null) => TypeVisitor | null {
  const tools: TypeVisitor = (depth, { start, end }) => {
    if (depth === 2) toolTypes.add(typeText(body, start, end));
  };
  const parts: TypeVisitor = (_depth, { start, end }) => {
    if (!seen.attached && end - start <= MAX_TYPE) seen.attached = MAY_ATTACH.has(body.toString('latin1', start, end));
  };
  return (name) =>
    name === 'tools' ? tools : name === 'cache_control' ? noTypes : name !== null && CARRIERS.has(name) ? parts : null;
}

/** For a member of which only its escapes are of interest. */
const noTypes: TypeVisitor = () => {};

/** With its escapes read; one that cannot be a type of ours is cut. */
function typeText(body: Buffer, start: number, end: number): string {
  const raw = body.toString('utf8', start, Math.min(end, start + 6 * MAX_TYPE));
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

/**
 * The larger one where a body names two limits: what a call can cost at most must not be set too small. A limit of 0 is
 * refused but in Anthropic's dialect, where it fills a cache: some servers of OpenAI's read it as no limit.
 */
function longest(value: (name: string) => unknown, dialect: Dialect): number | null {
  const least = dialect === 'messages' ? 0 : 1;
  let most: number | null = null;
  for (const name of ['max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    const given = value(name);
    if (given === undefined || given === null) continue;
    if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < least)
      throw new SlipwayError('request.invalid', `${name}: a whole number of tokens`);
    most = Math.max(most ?? 0, given);
  }
  return most;
}

function choicesOf(given: unknown): number {
  if (given === undefined || given === null) return 1;
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 1 || given > MAX_CHOICES)
    throw new SlipwayError('request.invalid', `n: a whole number from 1 to ${MAX_CHOICES}`);
  return given;
}
