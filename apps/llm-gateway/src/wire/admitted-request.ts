import { SlipwayError } from '@slipway/errors';
import { type Attachments, attachmentsOf, NO_ATTACHMENTS } from './attachments.js';
import type { Dialect } from './dialect.js';
import { invalid, listOf, objectOf } from './json.js';
import { isSearch, OFFERED, toolRule, toolTypesOf } from './offered-fields.js';
import { type RoutingFields, readRoutingFields } from './routing-fields.js';

/** A request as far as it is offered. */
export interface AdmittedRequest {
  readonly body: Buffer;
  readonly fields: RoutingFields;
  readonly attachments: Attachments;
  /**
   * The provider may search the web, as often as the request says at most (`null`: it does not say). `null`: it may
   * not.
   */
  readonly search: { readonly most: number | null } | null;
  /** Fields that were taken out, by their names. */
  readonly dropped: readonly string[];
}

/** What the model that is asked allows beyond the list. */
export interface Allowance {
  /** Fields of its provider alone. */
  readonly fields: ReadonlySet<string>;
  /** Service tiers that every place of it has a price for. */
  readonly serviceTiers: ReadonlySet<string>;
  /** Providers may fetch pictures and files by their addresses, past the egress rules of a sandbox. */
  readonly mediaByUrl: boolean;
  /** APIs in which the provider may search the web: every place has a price for it and a limit can be written. */
  readonly searches: ReadonlySet<Dialect>;
}

/** They cost what the price list says. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only']);

/**
 * Removes unknown fields from a request, and refuses what would cost more than tokens at the price, keep something at
 * the provider, or be run by it. Any other body is returned unchanged.
 * @throws SlipwayError `model.not-offered` or `model.media-by-url` with the path of the field.
 */
export function admitRequest(
  body: Buffer,
  dialect: Dialect,
  fields: RoutingFields,
  allowance: Allowance,
): AdmittedRequest {
  const searches = allowance.searches.has(dialect) && fields.toolTypes.some((type) => isSearch(dialect, type));
  if (
    dialect === 'responses' &&
    fields.toolTypes.some((type) => UNASKED.test(type) && !(searches && isSearch(dialect, type)))
  ) {
    const { rest, dropped } = withoutTools(
      body,
      fields,
      (type) => UNASKED.test(type) && !(searches && isSearch(dialect, type)),
    );
    const admitted = admitRequest(rest, dialect, readRoutingFields(rest, dialect), allowance);
    return { ...admitted, dropped: [...dropped, ...admitted.dropped] };
  }
  const search = searches ? searchOf(body, dialect, fields) : null;
  for (const type of otherToolTypes(body, fields, search === null ? null : dialect)) {
    const sentence = toolRule(dialect, type);
    if (sentence !== null)
      throw notOffered('tools', `a tool of the type "${type.slice(0, 80)}" is not offered here: ${sentence}`);
  }
  const { serviceTier: tier } = fields;
  if (tier !== null && !STANDARD_TIERS.has(tier) && !allowance.serviceTiers.has(tier))
    throw notOffered(
      'service_tier',
      `"${tier.slice(0, 80)}" costs another price, and this model has none for it; leave it out`,
    );
  for (const [name, { start, end }] of fields.at) {
    const rule = OFFERED[dialect].get(name);
    // Most have the rule that lets everything pass, and are large.
    const sentence = rule === undefined || !CHECKED[dialect].has(name) ? null : rule(parsed(body, start, end));
    if (sentence !== null) throw notOffered(name, sentence);
  }
  const attachments = fields.mayAttach ? attachmentsOf(body, dialect) : NO_ATTACHMENTS;
  if (attachments.refused !== null) throw notOffered(attachments.refused.path, attachments.refused.sentence);
  if (attachments.fetched !== null && !allowance.mediaByUrl) throw byAddress(attachments.fetched);
  const known = OFFERED[dialect];
  const isKept = (name: string | null): boolean => name !== null && (known.has(name) || allowance.fields.has(name));
  if (fields.members.every(({ name }) => isKept(name))) return { body, fields, attachments, search, dropped: [] };
  const kept = fields.members.filter(({ name }) => isKept(name));
  const pieces = kept.flatMap(({ start, end }, index) =>
    index === 0 ? [body.subarray(start, end)] : [COMMA, body.subarray(start, end)],
  );
  const rest = Buffer.concat([OPEN, ...pieces, CLOSE]);
  const dropped = fields.members.flatMap(({ name }) => (isKept(name) ? [] : [name ?? '…']));
  return { body: rest, fields: readRoutingFields(rest, dialect), attachments, search, dropped };
}

/**
 * Without the searches that this dialect may have, and with those of a namespace's tools, which are read for it alone.
 */
function otherToolTypes(body: Buffer, { at, toolTypes }: RoutingFields, searches: Dialect | null): readonly string[] {
  const own = searches === null ? toolTypes : toolTypes.filter((type) => !isSearch(searches, type));
  const place = toolTypes.includes(NAMESPACE) ? at.get('tools') : undefined;
  if (place === undefined) return own;
  return [
    ...own,
    ...listOf(parsed(body, place.start, place.end)).flatMap((tool) => toolTypesOf(objectOf(tool)?.['tools'])),
  ];
}

/** @throws SlipwayError `request.invalid` for two tools that search, or a limit that is none. */
function searchOf(body: Buffer, dialect: Dialect, { at }: RoutingFields): AdmittedRequest['search'] {
  const place = at.get('tools');
  const tools =
    place === undefined
      ? []
      : listOf(parsed(body, place.start, place.end)).filter((tool) => isSearch(dialect, objectOf(tool)?.['type']));
  const calls = at.get('max_tool_calls');
  const [path, given] =
    dialect === 'responses'
      ? (['max_tool_calls', calls === undefined ? null : parsed(body, calls.start, calls.end)] as const)
      : (['tools', objectOf(tools[0])?.['max_uses'] ?? null] as const);
  if (tools.length !== 1) throw invalid('tools', 'one tool that searches the web, not more');
  if (given === null) return { most: null };
  if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < 1)
    throw invalid(path, 'the most searches are a whole number from 1');
  return { most: given };
}

const NAMESPACE = 'namespace';

/** Codex offers the provider's search in every request; it works as well without. */
const UNASKED = /^web_search/;

function withoutTools(
  body: Buffer,
  { at }: RoutingFields,
  isOut: (type: string) => boolean,
): { rest: Buffer; dropped: string[] } {
  const place = at.get('tools');
  if (place === undefined) return { rest: body, dropped: [] };
  const dropped: string[] = [];
  const tools = listOf(parsed(body, place.start, place.end)).filter((tool) => {
    const type = String(objectOf(tool)?.['type'] ?? '');
    if (isOut(type)) dropped.push(`tools:${type}`);
    return !isOut(type);
  });
  return {
    rest: Buffer.concat([body.subarray(0, place.start), Buffer.from(JSON.stringify(tools)), body.subarray(place.end)]),
    dropped,
  };
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];

/** Fields whose value must be checked. */
const CHECKED: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  chat: checkedOf('chat'),
  responses: checkedOf('responses'),
  messages: checkedOf('messages'),
  embeddings: checkedOf('embeddings'),
};

/** A rule that refuses nothing at all refuses no nonsense either. */
function checkedOf(dialect: Dialect): ReadonlySet<string> {
  const free = OFFERED[dialect].get('model');
  return new Set([...OFFERED[dialect]].flatMap(([name, rule]) => (rule === free ? [] : [name])));
}

function parsed(body: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end));
  } catch {
    throw new SlipwayError('request.not-json', 'The body is not a JSON object: a value cannot be read.');
  }
}

function byAddress(path: string): SlipwayError {
  const message =
    'it is given by its address, which the provider would fetch past the egress rules; send it inline as base64';
  return new SlipwayError('model.media-by-url', `${path}: ${message}`, { fields: [{ path, message }] });
}

function notOffered(path: string, sentence: string): SlipwayError {
  return new SlipwayError('model.not-offered', `${path}: ${sentence}`, { fields: [{ path, message: sentence }] });
}
