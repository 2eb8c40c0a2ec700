import { createHash } from 'node:crypto';
import { invalid, shown } from '../../wire/json.js';
import { argumentsOf } from '../../wire/parts.js';
import type { CacheMark, DocumentPart, ImagePart, Part, TextPart, ToolResultPart, Turn } from '../../wire/turns.js';
import { twoSides } from '../sides.js';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

export type Block = Readonly<Record<string, unknown>>;

const IMAGES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** What a model of Bedrock takes beside the conversation. */
export interface Takes {
  /** Marks up to where it is to cache; other models refuse a request that has one. */
  readonly cachePoints: boolean;
  /** What it reasoned, and its signature. */
  readonly reasoning: boolean;
}

/**
 * The turns as Bedrock's `messages`: sides take turns, results of tools stand first in theirs, and no text is empty.
 */
export function messagesOf(turns: readonly Turn[], takes: Takes): Message[] {
  return twoSides(turns, (part) => isSaid(part, takes)).map(({ role, parts }) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: parts.flatMap((part) => blocksOf(part, takes)),
  }));
}

/** Texts must not be blank, and without its signature the model refuses its own reasoning. */
function isSaid(part: Part, takes: Takes): boolean {
  if (part.kind === 'text') return part.text.trim() !== '';
  if (part.kind === 'thinking') return takes.reasoning && part.signature !== null;
  return part.kind !== 'redacted' || takes.reasoning;
}

/** A mark as the block after what it stands at. */
export function cachePoint(mark: CacheMark | undefined, takes: Takes): Block[] {
  if (mark === undefined || !takes.cachePoints) return [];
  return [{ cachePoint: { type: 'default', ...(mark.ttl === null || mark.ttl === '5m' ? {} : { ttl: mark.ttl }) } }];
}

function blocksOf(part: Part, takes: Takes): Block[] {
  switch (part.kind) {
    case 'thinking':
      return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
    case 'redacted':
      return [{ reasoningContent: { redactedContent: part.data } }];
    case 'tool-call':
      return [
        { toolUse: { toolUseId: callId(part.id), name: part.name, input: argumentsOf(part) } },
        ...cachePoint(part.cache, takes),
      ];
    case 'tool-result':
      return [{ toolResult: resultOf(part) }, ...cachePoint(part.cache, takes)];
    default:
      return [...contentOf(part), ...cachePoint(part.cache, takes)];
  }
}

function resultOf(part: ToolResultPart): Block {
  const content = part.parts.flatMap(contentOf);
  return {
    toolUseId: callId(part.callId),
    content: content.length === 0 ? [{ text: '(no output)' }] : content,
    status: part.isError ? 'error' : 'success',
  };
}

function contentOf(part: TextPart | ImagePart | DocumentPart): Block[] {
  if (part.kind === 'text') return part.text.trim() === '' ? [] : [{ text: part.text }];
  const { source } = part;
  if (source.kind === 'text') return source.text.trim() === '' ? [] : [{ text: source.text }];
  if (source.kind === 'url')
    throw invalid('messages', `this model takes no ${part.kind} by its address; send it in base64`);
  const format = (part.kind === 'image' ? IMAGES : DOCUMENTS)[source.mediaType.toLowerCase()];
  if (format === undefined)
    throw invalid('messages', `this model takes no ${part.kind} of the type ${shown(source.mediaType)}`);
  const block = { format, source: { bytes: source.data } };
  return [part.kind === 'image' ? { image: block } : { document: { ...block, name: nameOf(part) } }];
}

/** Bedrock takes letters, digits, single spaces, hyphens and brackets. */
function nameOf(part: DocumentPart): string {
  const name = (part.name ?? '')
    .replace(/[^A-Za-z0-9()[\] -]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
  return name === '' ? 'document' : name;
}

/** Ids of other models may hold what Bedrock does not take in one. */
function callId(id: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}
