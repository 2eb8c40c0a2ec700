import type { Target } from '../../wire/exchange.js';
import type { JsonObject } from '../../wire/json.js';
import type { ProviderFormat, WrittenRequest } from '../format.js';
import { GeminiReader } from './answer-reader.js';
import { geminiEmbeddings, readGeminiEmbeddings } from './embeddings.js';
import { geminiRequest } from './write-request.js';

/** Gemini's own API. The key goes in a header: an address ends up in logs. */
export const geminiFormat: ProviderFormat = {
  signedBy: 'gemini',
  streams: /^text\/event-stream\b/i,
  write(request, target) {
    return toModel(
      target,
      request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent',
      geminiRequest(request, target),
    );
  },
  read: () => new GeminiReader(),
  embed: (request, target) => ({
    written: toModel(target, 'batchEmbedContents', geminiEmbeddings(request, nameOf(target))),
    read: readGeminiEmbeddings,
  }),
};

function nameOf({ model }: Target): string {
  return model.includes('/') ? model : `models/${model}`;
}

function toModel(target: Target, verb: string, body: JsonObject): WrittenRequest {
  const { origin, pathname } = new URL(target.baseUrl);
  const headers: Record<string, string> = target.apiKey === null ? {} : { 'x-goog-api-key': target.apiKey };
  const path = `${pathname.replace(/\/+$/, '')}/${nameOf(target).split('/').map(encodeURIComponent).join('/')}`;
  return { origin, path: `${path}:${verb}`, headers, body: Buffer.from(JSON.stringify(body)) };
}
