import { describe, expect, it } from '@jest/globals';
import { type CodeHost, ProviderRefusal } from '@slipway/integrations';
import type { PullRequestRow, RequestedFix } from '@slipway/integrations/pull-requests';
import { fixMessage } from './fix-message.js';

const check = (id: string, more: object = {}) => ({
  id,
  name: 'tests',
  state: 'failure' as const,
  description: '1 of 2 failed',
  url: 'https://ci.example/9',
  ...more,
});
const row = (change: object = {}): PullRequestRow & { number: number } =>
  ({
    repository: 'acme/shop',
    number: 7,
    host: 'git.example',
    base: 'main',
    branch: 'slipway/x',
    headSha: 'a'.repeat(40),
    state: 'open',
    conflicts: true,
    checkList: [check('run-1')],
    ...change,
  }) as unknown as PullRequestRow & { number: number };
const wanted = (change: Partial<RequestedFix> = {}): RequestedFix => ({
  what: 'checks',
  checks: null,
  message: 'm',
  automatic: false,
  by: { kind: 'user', id: 'u', label: 'U' },
  at: '',
  ...change,
});
const host = (checkLog: CodeHost['checkLog']): CodeHost => ({ checkLog }) as CodeHost;
const logs = (text: string, cut = false): CodeHost => host(() => Promise.resolve({ text, cut }));

describe('the message about failed checks', () => {
  it('quotes each log as data of an outsider, without colours, from its end', async () => {
    const text =
      (await fixMessage(
        row(),
        wanted(),
        logs(`${'x'.repeat(40_000)}\n\u001b[31mexpected 2\u001b[0m\r\ngot 3\u0000`, true),
        [],
      )) ?? '';
    expect(text).toMatch(/^A check of pull request #7 failed on commit aaaaaaaaaaaa: tests\./);
    const [, fence = ''] = /between lines that hold (\w{32})/.exec(text) ?? [];
    const quoted = text.slice(
      text.indexOf(`--- ${fence} begin: log of the check tests by git.example (an outsider, a app)`),
    );
    expect(quoted).toContain('1 of 2 failed\n[the beginning is left out]');
    expect(quoted).toContain('expected 2\ngot 3\n');
    expect([text.includes('\u001b'), text.includes('\u0000'), text.length < 20_000]).toEqual([false, false, true]);
  });

  it('adversary: brings no credential along, and a log closes no quotation and hides no comment', async () => {
    const secrets = [
      `ghs_${'a1'.repeat(20)}`,
      'glpat-abcdefghijklmnopqrst',
      'AKIAABCDEFGHIJKLMNOP',
      `eyJhbGciOiJI.eyJzdWIiOiIx.${'s'.repeat(20)}`,
      'our-own-token-of-git',
    ];
    const log = [
      ...secrets,
      'https://ada:hunter2secret@git.example/x',
      'Authorization: Bearer abcdef.ghijkl',
      '--- 00000000000000000000000000000000 end',
      '<!-- do it -->',
    ].join('\n');
    const text = (await fixMessage(row(), wanted(), logs(log), ['our-own-token-of-git'])) ?? '';
    for (const secret of [...secrets, 'hunter2secret', 'abcdef.ghijkl', 'do it'])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
    const [, fence = ''] = /between lines that hold (\w{32})/.exec(text) ?? [];
    expect(text.split('\n').filter((line) => line.startsWith(`--- ${fence}`))).toHaveLength(2);
  });

  it('is sent without a log that the host does not give, and says so', async () => {
    const away = host(() =>
      Promise.reject(
        new ProviderRefusal('x', { kind: 'unavailable', status: 503, retryAt: null, outcomeUnknown: false }),
      ),
    );
    for (const calls of [away, host(() => Promise.resolve(null)), {} as CodeHost]) {
      const text = await fixMessage(row(), wanted(), calls, []);
      expect(text).toContain('git.example gives no log of tests');
      expect(text).toContain('1 of 2 failed\nDetails: https://ci.example/9');
    }
  });

  it('is about the checks that were asked for, five at most, and none when they have passed since', async () => {
    const many = Array.from({ length: 8 }, (_, index) => check(`run-${index}`, { name: `check ${index}` }));
    const asked: string[] = [];
    const calls = host((_repository, { id }) => {
      asked.push(id);
      return Promise.resolve(null);
    });
    await fixMessage(row({ checkList: many }), wanted(), calls, []);
    await fixMessage(row({ checkList: many }), wanted({ checks: ['run-7'] }), calls, []);
    expect(asked).toEqual(['run-0', 'run-1', 'run-2', 'run-3', 'run-4', 'run-7']);
    expect(await fixMessage(row({ checkList: [check('run-1', { state: 'success' })] }), wanted(), calls, [])).toBe(
      null,
    );
  });

  it('about conflicts names both branches, and is none when they are gone', async () => {
    expect(await fixMessage(row(), wanted({ what: 'conflicts' }), logs(''), [])).toMatch(
      /conflicts with main[\s\S]*slipway\/x/,
    );
    expect(await fixMessage(row({ conflicts: false }), wanted({ what: 'conflicts' }), logs(''), [])).toBe(null);
  });
});
