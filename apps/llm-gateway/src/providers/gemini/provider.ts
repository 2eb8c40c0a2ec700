import type { Provider } from '../provider.js';
import { geminiFormat } from './format.js';
import { geminiRefusal } from './refusal.js';

export const gemini: Provider = {
  id: 'gemini',
  baseUrl: () => 'https://generativelanguage.googleapis.com/v1beta',
  dialects: () => [],
  upstream: geminiFormat,
  refusal: geminiRefusal,
  countsTokens: false,
  searches: [],
  requires: {},
};
