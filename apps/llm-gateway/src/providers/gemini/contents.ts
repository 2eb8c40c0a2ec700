import { invalid, shown } from '../../wire/json.js';
import { argumentsOf } from '../../wire/parts.js';
import type { DocumentPart, ImagePart, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../wire/turns.js';
import { twoSides } from '../sides.js';

export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly GeminiPart[];
}

export type GeminiPart = Readonly<Record<string, unknown>>;

/** Google's own word for a call that Gemini 3 did not make itself: without a signature it refuses the conversation. */
const NOT_SIGNED = 'skip_thought_signature_validator';

/** Types by the end of an address; Gemini fetches it and wants to know before. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
};

/**
 * The turns as Gemini's `contents`: turns of one side become one, results of tools stand first in theirs, and what was
 * signed goes back as it came.
 * @param mustBeSigned the model refuses calls without a signature: those of other models get Google's word for it.
 */
export function contentsOf(turns: readonly Turn[], mustBeSigned: boolean): Content[] {
  const names = new Map<string, string>();
  return twoSides(turns, isSaid).map(({ role, parts }) =>
    role === 'assistant'
      ? { role: 'model', parts: modelParts(parts, names, mustBeSigned) }
      : { role: 'user', parts: userParts(parts, names) },
  );
}

/** Summaries of thoughts without a signature are useless to it. */
function isSaid(part: Part): boolean {
  if (part.kind === 'redacted') return false;
  return part.kind === 'text' ? part.text !== '' : part.kind !== 'thinking' || part.signature !== null;
}

function modelParts(parts: readonly Part[], names: Map<string, string>, mustBeSigned: boolean): GeminiPart[] {
  const written: GeminiPart[] = [];
  let calls = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'text') written.push({ text: part.text });
    else if (part.kind === 'thinking') {
      const next = parts[index + 1];
      // Callers that cannot hand a call's signature back with the call have it on the reasoning before it; Gemini
      // itself never signs that.
      if (next?.kind === 'tool-call' && next.signature === undefined) continue;
      written.push({
        text: part.text,
        ...(part.text === '' ? {} : { thought: true }),
        thoughtSignature: part.signature,
      });
    } else if (part.kind === 'tool-call') {
      names.set(part.id, part.name);
      const signature = signatureOf(part, parts[index - 1]) ?? (mustBeSigned && calls === 0 ? NOT_SIGNED : null);
      written.push({
        functionCall: { id: part.id, name: part.name, args: argumentsOf(part) },
        ...(signature === null ? {} : { thoughtSignature: signature }),
      });
      calls += 1;
    }
  }
  return written;
}

function signatureOf(call: ToolCallPart, before: Part | undefined): string | null {
  return call.signature ?? (before?.kind === 'thinking' ? before.signature : null);
}

function userParts(parts: readonly Part[], names: ReadonlyMap<string, string>): GeminiPart[] {
  const results = parts.filter((part) => part.kind === 'tool-result');
  const others = parts.filter((part) => part.kind === 'text' || part.kind === 'image' || part.kind === 'document');
  return [...results.map((result) => responseOf(result, names)), ...results.flatMap(picturesOf), ...others.map(partOf)];
}

function responseOf(result: ToolResultPart, names: ReadonlyMap<string, string>): GeminiPart {
  const name = names.get(result.callId);
  if (name === undefined)
    throw invalid('messages', `there is a result of the call ${shown(result.callId)}, and no such call before it`);
  const text = result.parts
    .map((part) =>
      part.kind === 'text'
        ? part.text
        : part.kind === 'document' && part.source.kind === 'text'
          ? part.source.text
          : '',
    )
    .join('');
  return {
    functionResponse: { id: result.callId, name, response: result.isError ? { error: text } : { output: text } },
  };
}

/** What is not text in a result stands after it: only the newest models read it inside. */
function picturesOf(result: ToolResultPart): GeminiPart[] {
  return result.parts
    .filter((part) => part.kind === 'image' || (part.kind === 'document' && part.source.kind !== 'text'))
    .map(partOf);
}

function partOf(part: TextPart | ImagePart | DocumentPart): GeminiPart {
  if (part.kind === 'text') return { text: part.text };
  const { source } = part;
  if (source.kind === 'text') return { text: source.text };
  if (source.kind === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (isGooglesOwn(source.url))
    throw invalid(
      'messages',
      'an address at Google is a video, or lies under a key that all organizations share; send the content itself',
    );
  const type = TYPES[/\.([a-z]+)(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase() ?? ''];
  return { fileData: { fileUri: source.url, ...(type === undefined ? {} : { mimeType: type }) } };
}

/**
 * What Gemini does not fetch as anybody would: a video of YouTube, which fills the context, and files that were
 * uploaded with its key.
 */
function isGooglesOwn(address: string): boolean {
  const url = URL.parse(address);
  return (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    /(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be|googleapis\.com)\.?$/.test(url.hostname)
  );
}
