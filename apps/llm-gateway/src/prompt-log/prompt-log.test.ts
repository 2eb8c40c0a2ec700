import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { maskSecrets } from './mask-secrets.js';
import { MAX_LOGGED, PromptLog } from './prompt-log.js';

describe('maskSecrets', () => {
  for (const secret of [
    'sk-proj-abcdefghijklmnop1234',
    'ghp_abcdefghijklmnop1234',
    'slp_llm_0123456789abcdef0123456789',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
  ]) {
    it(`takes ${secret.slice(0, 8)}… out of a text, of JSON in it and of a command`, () => {
      for (const text of [
        `it is ${secret}.`,
        JSON.stringify({ content: `{"key":"${secret}"}` }),
        `curl -H "Authorization: Bearer ${secret}" x`,
      ])
        expect(maskSecrets(text)).not.toContain(secret.slice(6));
    });
  }

  it('takes passwords of addresses, assignments and private keys, and leaves code as it is', () => {
    expect(maskSecrets('postgres://me:hunter22@db/x')).not.toContain('hunter22');
    expect(maskSecrets('password = "correct-horse"')).not.toContain('correct-horse');
    expect(maskSecrets('-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----')).not.toContain(
      'MIIabc',
    );
    const code = 'const total = items.reduce((sum, item) => sum + item.price, 0); // https://example.org/a:b@c';
    expect(maskSecrets(code)).toBe(code);
  });
});

describe('PromptLog', () => {
  const call = { orgId: 'org_1', conversationId: 'c', userId: null, requestId: 'r', model: 'm', outcome: 'ok' };
  const storeOf = (policies: () => Promise<ReadonlyMap<string, number>>) => {
    const entries: Array<{ orgId: string; asked: string; answered: string }> = [];
    const insert = async (orgId: string, entry: { asked: string; answered: string }): Promise<void> => {
      if (entry.asked === 'refused') throw new Error('the database is away');
      entries.push({ orgId, ...entry });
    };
    return { entries, store: { policies, insert, sweep: async () => ({ more: false }) } };
  };
  const options = { clock: systemClock, logger: createLogger('test', 'silent') };

  it('writes what was asked and answered, bounded, masked and as text that a database holds, and leaves out what cannot be written', async () => {
    const { entries, store } = storeOf(async () => new Map([['org_1', 7]]));
    const log = new PromptLog({ ...options, store });
    expect(log.wants('org_1')).toBe(false);
    log.start();
    await until('the policies are read', () => log.wants('org_1'));
    expect(log.wants('org_2')).toBe(false);
    log.add({
      ...call,
      asked: Buffer.from('use sk-secret-0123456789abcdef'),
      answered: Buffer.alloc(MAX_LOGGED * 2, 0x61),
    });
    log.add({ ...call, asked: Buffer.from('refused'), answered: Buffer.from('') });
    log.add({ ...call, asked: Buffer.from('a\0b'), answered: Buffer.from('') });
    await log.close();
    expect(entries.map(({ asked }) => asked)).toEqual(['use sk-s[masked]', 'a\u2400b']);
    expect(entries[0]?.answered).toHaveLength(MAX_LOGGED);
  });

  it('stores nothing while policies are unknown', async () => {
    const { store } = storeOf(() => Promise.reject(new Error('the database is away')));
    const log = new PromptLog({ ...options, store });
    log.start();
    await log.close();
    expect(log.wants('org_1')).toBe(false);
  });
});
