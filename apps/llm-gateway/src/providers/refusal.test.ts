import { describe, expect, it } from '@jest/globals';
import type { ProviderId } from '@slipway/contracts/models';
import fc from 'fast-check';
import { providerOf } from './providers.js';
import { golden } from './test-golden.js';

const refusal = (provider: ProviderId, status: number, body: string, headers: Record<string, string> = {}): unknown =>
  providerOf(provider).refusal?.({ status, headers, body }) ?? null;

describe('a refusal in plain words', () => {
  it("of Azure's filters is a matter of policy, and says which filter it was", () => {
    expect(refusal('azure', 400, golden('azure/filters-the-prompt.json').toString())).toEqual({
      status: 400,
      error: {
        code: 'content_filter',
        type: null,
        message: expect.stringMatching(/^The response was filtered .*\(jailbreak\)$/),
      },
    });
  });

  it('of Azure in its other shapes keeps its words, and how long to wait', () => {
    expect(refusal('azure', 404, '{"error":{"code":"DeploymentNotFound","message":"gone"}}')).toMatchObject({
      error: { code: 'model_not_found', message: 'gone' },
    });
    expect(refusal('azure', 401, '{"statusCode":401,"message":"Access denied"}')).toMatchObject({
      status: 401,
      error: { message: 'Access denied' },
    });
    expect(
      refusal('azure', 429, '{"error":{"code":"429","message":"slow"}}', { 'retry-after-ms': '1500' }),
    ).toMatchObject({ retryAfter: '2' });
  });

  it('of Google says when to come back, and that a key is wrong', () => {
    expect(refusal('gemini', 429, golden('gemini/limits-the-rate.json').toString())).toMatchObject({
      status: 429,
      retryAfter: '35',
    });
    expect(refusal('gemini', 429, `[${golden('gemini/limits-the-rate.json').toString()}]\n`)).toMatchObject({
      status: 429,
      retryAfter: '35',
    });
    expect(refusal('gemini', 400, golden('gemini/refuses-the-key.json').toString())).toMatchObject({
      status: 401,
      error: { message: expect.stringContaining('not valid') },
    });
    const long = {
      error: {
        code: 400,
        message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    };
    expect(refusal('gemini', 400, JSON.stringify(long))).toMatchObject({
      status: 400,
      error: { code: 'context_length_exceeded' },
    });
  });

  it('of Bedrock has the status of its exception, and distinguishes a context that is too long from a model that is not there', () => {
    const of = (name: string, status: number, message = 'x'): unknown =>
      refusal('bedrock', status, JSON.stringify({ message }), {
        'x-amzn-errortype': `${name}:http://internal.amazon.com/`,
      });
    expect(of('ThrottlingException', 429)).toMatchObject({
      status: 429,
      error: { message: 'x', type: 'ThrottlingException' },
    });
    expect(of('ModelErrorException', 424)).toMatchObject({ status: 502 });
    expect(of('ModelTimeoutException', 408)).toMatchObject({ status: 504 });
    expect(of('ValidationException', 400, 'Input is too long for requested model.')).toMatchObject({
      status: 400,
      error: { code: 'context_length_exceeded' },
    });
    expect(of('ValidationException', 400, 'The provided model identifier is invalid.')).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    });
    expect(of('ValidationException', 400, 'temperature: must be below 1')).toMatchObject({
      status: 400,
      error: { code: null },
    });
    expect(
      refusal('bedrock', 403, '{"Message":"The security token included in the request is expired"}'),
    ).toMatchObject({
      status: 403,
      error: { message: expect.stringContaining('expired') },
    });
  });

  it('is left as it is where the provider speaks as OpenAI or Anthropic, and never fails', () => {
    expect(refusal('openai', 500, '{}')).toBeNull();
    expect(refusal('anthropic', 500, '{}')).toBeNull();
    const kinds = fc.constantFrom<ProviderId>('azure', 'gemini', 'bedrock');
    fc.assert(
      fc.property(
        kinds,
        fc.jsonValue(),
        (kind, value) => void refusal(kind, 400, JSON.stringify({ error: value, message: value, __type: value })),
      ),
    );
    fc.assert(
      fc.property(
        kinds,
        fc.string(),
        (kind, text) => void refusal(kind, 400, text, { 'x-amzn-errortype': text, 'retry-after-ms': text }),
      ),
    );
  });
});
