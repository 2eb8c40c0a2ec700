import { describe, expect, it } from '@jest/globals';
import type { TraceSpan } from '@slipway/contracts/conversations';
import { attributesOf, GEN_AI_SCHEMA_URL } from './gen-ai-names.js';

const CONVERSATION = '0190a0a0-0000-7000-8000-000000000001';
const span = (more: Partial<TraceSpan> & Pick<TraceSpan, 'kind' | 'name'>): TraceSpan => ({
  id: '0123456789abcdef',
  parent: null,
  seq: 4,
  at: 0,
  ms: 10,
  status: 'ok',
  ...more,
});

describe('the attributes of a span', () => {
  it('have the names of one version of OpenTelemetry', () =>
    expect(GEN_AI_SCHEMA_URL).toBe('https://opentelemetry.io/schemas/1.45.0'));

  it('say of a model call its model, tokens, cost and first byte', () => {
    const chat = span({
      kind: 'chat',
      name: 'chat a/b c',
      promptTokens: 3,
      completionTokens: 2,
      cachedTokens: 1,
      costUsd: '0.25',
      firstByteMs: 1_500,
      attempts: 2,
      provider: 'bedrock',
      critical: true,
    });
    expect(attributesOf(chat, CONVERSATION)).toEqual({
      'gen_ai.conversation.id': CONVERSATION,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'a/b c',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 1,
      'gen_ai.response.time_to_first_chunk': 1.5,
      'slipway.event.seq': 4,
      'slipway.cost.usd': 0.25,
      'slipway.call.attempts': 2,
      'slipway.critical_path': true,
      'gen_ai.provider.name': 'aws.bedrock',
    });
  });

  it('name tools, agents, start steps and errors', () => {
    expect(
      attributesOf(
        span({ kind: 'tool', name: 'execute_tool terminal', status: 'error', code: 'tool.failed' }),
        CONVERSATION,
      ),
    ).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'terminal',
      'error.type': 'tool.failed',
    });
    expect(attributesOf(span({ kind: 'sub_agent', name: 'invoke_agent explore' }), CONVERSATION)).toMatchObject({
      'gen_ai.agent.name': 'explore',
    });
    expect(attributesOf(span({ kind: 'start_step', name: 'start WORKING', seq: null }), CONVERSATION)).toEqual({
      'gen_ai.conversation.id': CONVERSATION,
      'slipway.start.step': 'WORKING',
    });
  });
});
