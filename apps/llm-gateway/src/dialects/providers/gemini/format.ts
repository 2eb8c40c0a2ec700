import type { ProviderFormat } from '../format.js';
import { GeminiReader } from './answer-reader.js';
import { geminiRequest } from './write-request.js';

/** Gemini's own API. The key goes in a header: an address ends up in logs. */
export const gemini: ProviderFormat = {
  signedBy: 'gemini',
  streams: /^text\/event-stream\b/i,
  write(request, target) {
    const { origin, pathname } = new URL(target.baseUrl);
    const headers: Record<string, string> = target.apiKey === null ? {} : { 'x-goog-api-key': target.apiKey };
    const model = target.model.includes('/') ? target.model : `models/${target.model}`;
    const path = `${pathname.replace(/\/+$/, '')}/${model.split('/').map(encodeURIComponent).join('/')}`;
    return {
      origin,
      path: request.stream ? `${path}:streamGenerateContent?alt=sse` : `${path}:generateContent`,
      headers,
      body: Buffer.from(JSON.stringify(geminiRequest(request, target))),
    };
  },
  read: () => new GeminiReader(),
};
