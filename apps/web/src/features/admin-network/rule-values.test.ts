import { describe, expect, it } from '@jest/globals';
import { CreateEgressRule } from '@slipway/contracts/sandboxes';
import { limitsOf, NO_LIMITS, requestsOf } from './rule-values.ts';

const READ = ['GET', 'HEAD', 'OPTIONS'];
const rule = (action: string, values: Partial<typeof NO_LIMITS>) =>
  CreateEgressRule.parse({ host: 'a.example.com', action, ...limitsOf({ ...NO_LIMITS, ...values }, action) });

describe('the requests of a rule', () => {
  it('are all of them without a method and a path, whatever else was chosen before', () => {
    expect(limitsOf({ ...NO_LIMITS, chosen: ['POST'], foreign: 'allow', paths: ' \n' }, 'allow')).toEqual({});
  });

  it('are read only, chosen methods, or paths by line', () => {
    expect(rule('allow', { methods: 'read' })).toMatchObject({ methods: READ, foreign: 'refuse' });
    expect(rule('allow', { methods: 'chosen', chosen: ['POST'], foreign: 'allow' })).toMatchObject({
      methods: ['POST'],
      foreign: 'allow',
    });
    expect(rule('allow', { paths: ' /v1/**\n\n/v2 ' })).toMatchObject({ paths: ['/v1/**', '/v2'] });
    expect(rule('allow', { methods: 'read', websocket: true })).toMatchObject({ websocket: true });
    expect(() => rule('allow', { methods: 'chosen', chosen: ['POST'], websocket: true })).toThrow();
    expect(rule('deny', { methods: 'read', foreign: 'allow' })).not.toHaveProperty('foreign');
    expect(() => rule('allow', { methods: 'chosen' })).toThrow();
  });

  it('are named in the table', () => {
    expect(requestsOf({ methods: null, paths: null })).toBe('all');
    expect(requestsOf({} as never)).toBe('all');
    expect(requestsOf({ methods: ['HEAD', 'GET', 'OPTIONS'], paths: null })).toBe('read');
    expect(requestsOf({ methods: ['GET', 'POST', 'OPTIONS'], paths: null })).toBe('some');
    expect(requestsOf({ methods: ['GET', 'HEAD', 'OPTIONS'], paths: ['/v1'] })).toBe('some');
  });
});
