import type { Dialect } from './dialect.js';
import { type JsonObject, listOf, objectOf, parseObject, textOf } from './json.js';
import { toolRule, toolTypesOf } from './offered-fields.js';

/** What messages carry beside text. */
export interface Attachments {
  readonly images: number;
  /** PDFs, files and whatever is given by its address: they may fill the model's context. */
  readonly documents: number;
  /** A part that is not offered, with the reason; `null`: all are. */
  readonly refused: Place | null;
  /** The first part that is given by its address, which the provider would fetch; `null`: all stand in the request. */
  readonly fetched: string | null;
}

interface Place {
  readonly path: string;
  readonly sentence: string;
}

export const NO_ATTACHMENTS: Attachments = { images: 0, documents: 0, refused: null, fetched: null };

const STATE = 'it lies at the provider, under a key that all organizations share; send the content itself';
const MEDIA = 'sound and video cost more than tokens of text, and this gateway has no price for them';
const DEEP = 'parts are not nested so deeply in any API';
/** Deeper than parts of any dialect are. */
const MAX_DEPTH = 8;

interface Found {
  images: number;
  documents: number;
  refused: Attachments['refused'];
  fetched: Attachments['fetched'];
}

/** Visits every part of every message. For bodies that may hold attachments: reading them whole costs milliseconds. */
export function attachmentsOf(body: Buffer, dialect: Dialect): Attachments {
  const request = parseObject(body.toString('utf8'));
  if (request === null || dialect === 'embeddings') return NO_ATTACHMENTS;
  const found: Found = { images: 0, documents: 0, refused: null, fetched: null };
  if (dialect === 'responses') within(request['input'], 'input', found, 0);
  else {
    within(request['system'], 'system', found, 0);
    for (const [index, message] of listOf(request['messages']).entries())
      within(objectOf(message)?.['content'], `messages[${index}].content`, found, 0);
  }
  return found;
}

function within(content: unknown, path: string, found: Found, depth: number): void {
  if (depth >= MAX_DEPTH) {
    if (typeof content === 'object' && content !== null) found.refused ??= { path, sentence: DEEP };
    return;
  }
  // One part without a list around it is a part.
  if (objectOf(content) !== null) look(content, path, found, depth + 1);
  for (const [index, part] of listOf(content).entries()) look(part, `${path}[${index}]`, found, depth + 1);
}

function look(value: unknown, path: string, found: Found, depth: number): void {
  const part = objectOf(value);
  if (part === null) return;
  const type = part['type'];
  const refuse = (sentence: string): void => {
    found.refused ??= { path, sentence };
  };
  const source = objectOf(part['source']);
  // A search for tools hands tools on, and they are offered from there on.
  const tool = toolTypesOf(part['tools']).flatMap((one) => toolRule('responses', one) ?? [])[0];
  if (tool !== undefined) refuse(tool);
  if (
    holdsReference(part) ||
    holdsReference(objectOf(part['file'])) ||
    holdsReference(source) ||
    source?.['type'] === 'file'
  )
    refuse(STATE);
  if (isAddressed(part, source)) found.fetched ??= path;
  switch (type) {
    case 'item_reference':
    case 'container_upload':
      refuse(STATE);
      break;
    case 'input_audio':
    case 'audio':
    case 'audio_url':
    case 'video':
    case 'video_url':
      refuse(MEDIA);
      break;
    case 'image':
    case 'image_url':
    case 'input_image':
      if (isImage(part)) found.images += 1;
      else found.documents += 1;
      break;
    case 'computer_call_output':
      found.images += 1;
      break;
    case 'document':
      if (source?.['type'] === 'content') within(source['content'], `${path}.source.content`, found, depth);
      else if (source?.['type'] !== 'text') found.documents += 1;
      break;
    case 'file':
    case 'input_file': {
      const data = textOf(objectOf(part['file'])?.['file_data'] ?? part['file_data']);
      if (data !== null && /^data:(audio|video)\//i.test(data)) refuse(MEDIA);
      found.documents += 1;
      break;
    }
  }
  within(part['content'], `${path}.content`, found, depth);
  within(part['output'], `${path}.output`, found, depth);
}

function holdsReference(part: JsonObject | null): boolean {
  return textOf(part?.['file_id']) !== null;
}

/** An address of any scheme. What stands in the request is `data:`, or base64, which has no colon. */
const ADDRESS = /^\s*(?!data:)[a-z][a-z0-9+.-]*:/i;

/** The provider would fetch it: by all spellings that APIs have for it, and those that servers take beside. */
function isAddressed(part: JsonObject, source: JsonObject | null): boolean {
  const file = objectOf(part['file']);
  if (source?.['type'] === 'url') return true;
  const given = Object.entries(part).flatMap(([name, value]) =>
    name.endsWith('_url') && !NOT_FETCHED.has(name) ? [value] : [],
  );
  return [...given, part['file_data'], file?.['file_url'], file?.['file_data'], source?.['url']].some((value) =>
    ADDRESS.test((textOf(objectOf(value)?.['url'] ?? value) ?? '').slice(0, MAX_SCHEME)),
  );
}

/** Where a browser stands: said to the model for its safety checks. */
const NOT_FETCHED: ReadonlySet<string> = new Set(['current_url']);
/** A scheme is within so many characters. */
const MAX_SCHEME = 100;

/** A picture in a form that all providers count as one. Some take a PDF in its place. */
function isImage(part: JsonObject): boolean {
  const given = part['image_url'];
  const url = textOf(objectOf(given)?.['url'] ?? given);
  return url === null || !url.startsWith('data:') || /^data:image\//i.test(url);
}
