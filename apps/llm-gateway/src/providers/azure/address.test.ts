import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../wire/dialect.js';
import type { Target } from '../../wire/exchange.js';
import { azureAddress } from './address.js';

const asked = { dialect: 'chat', headers: {}, stream: false, trace: { traceparent: '00-1-2-01' } } as never;
const target: Target = {
  provider: 'azure',
  baseUrl: 'https://x.openai.azure.com',
  apiKey: 'k',
  model: 'my gpt',
  speaks: [],
};
const place = (spoken: Dialect, more: Partial<Target>): string => {
  const { origin, path } = azureAddress(spoken, asked, { ...target, ...more });
  return origin + path;
};

describe("Azure's address", () => {
  it('has the deployment and a version in its path, where it has versions', () => {
    const chat = '/openai/deployments/my%20gpt/chat/completions?api-version=';
    expect(place('chat', { apiVersion: '2025-01-01-preview' })).toBe(
      `https://x.openai.azure.com${chat}2025-01-01-preview`,
    );
    expect(place('chat', { baseUrl: 'https://x.openai.azure.com/openai' })).toBe(
      `https://x.openai.azure.com${chat}2024-10-21`,
    );
    expect(place('embeddings', {})).toBe(
      'https://x.openai.azure.com/openai/deployments/my%20gpt/embeddings?api-version=2024-10-21',
    );
    expect(place('chat', { baseUrl: 'https://proxy.example/a/openai/deployments/b', apiVersion: '1' })).toBe(
      'https://proxy.example/a/openai/deployments/b/chat/completions?api-version=1',
    );
  });

  it("is OpenAI's below /v1, with a version only where one is named, and for Responses without one everywhere", () => {
    expect(place('chat', { baseUrl: 'https://x.openai.azure.com/openai/v1' })).toBe(
      'https://x.openai.azure.com/openai/v1/chat/completions',
    );
    expect(place('responses', { baseUrl: 'https://x.openai.azure.com/openai/v1', apiVersion: 'preview' })).toBe(
      'https://x.openai.azure.com/openai/v1/responses?api-version=preview',
    );
    expect(place('responses', {})).toBe('https://x.openai.azure.com/openai/v1/responses');
    expect(place('responses', { apiVersion: '2025-04-01-preview' })).toBe(
      'https://x.openai.azure.com/openai/responses?api-version=2025-04-01-preview',
    );
  });

  it('carries the key in a header of its own, a token of Entra as a bearer, and never in the path', () => {
    const headers = (apiKey: string | null): Record<string, string> => ({
      ...azureAddress('chat', asked, { ...target, apiKey }).headers,
    });
    expect(headers('k')).toMatchObject({ 'api-key': 'k', traceparent: '00-1-2-01' });
    expect(headers('k')['authorization']).toBeUndefined();
    expect(headers('eyJhbGci.eyJhdWQi.c2ln')).toMatchObject({ authorization: 'Bearer eyJhbGci.eyJhdWQi.c2ln' });
    expect(headers(null)['api-key']).toBeUndefined();
    expect(place('chat', { apiKey: 'very-secret' })).not.toContain('very-secret');
  });
});
