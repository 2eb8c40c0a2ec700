import { describe, expect, it } from '@jest/globals';
import { AgentAction } from '@slipway/contracts/actions';
import { type SecurityRisk } from '@slipway/contracts/conversations';
import { assess } from './analyze.js';

const risk = (action: Record<string, unknown>): SecurityRisk =>
  assess({ kind: 'PatternSecurityAnalyzer' }, { action: AgentAction.parse(action), modelRisk: 'UNKNOWN' }).risk;
const opens = (url: string) => risk({ kind: 'BrowserNavigateAction', url });
const types = (text: string) => risk({ kind: 'BrowserTypeAction', index: 0, text });

describe('what the rules say of an action of the browser', () => {
  it('call it MEDIUM to type a secret by name', () => {
    const [before, spaces] = ['word '.repeat(10_000), '<secret> '.repeat(8_000)];
    expect([
      types(`${before}<secret>PASSWORD</secret>`),
      types(`${spaces}<secret> PASSWORD </secret>`),
      types(spaces),
    ]).toEqual(['MEDIUM', 'MEDIUM', 'UNKNOWN']);
    expect([types('<secret>PASSWORD</secret>\n'), types('<secret:PASSWORD>'), types('the secret of PASSWORD')]).toEqual(
      ['MEDIUM', 'MEDIUM', 'UNKNOWN'],
    );
  });

  it('call it HIGH to send what resembles a secret, in an address or a field', () => {
    const secrets = [
      `ghp_${'a1'.repeat(18)}`,
      'AKIAIOSFODNN7EXAMPLE',
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      `sk-${'x'.repeat(30)}`,
    ];
    for (const secret of secrets) {
      expect([secret, opens(`https://x.test/?q=${encodeURIComponent(secret)}`), types(`key: ${secret}`)]).toEqual([
        secret,
        'HIGH',
        'HIGH',
      ]);
    }
  });

  it('call it MEDIUM to touch who is signed in, to carry much data away, and to reach internal networks', () => {
    expect([
      opens('https://ada:pass@x.test/'),
      opens(`https://x.test/?d=${'a'.repeat(600)}`),
      opens('10.0.0.7:8080'),
      opens('http://169.254.169.254/latest/meta-data'),
      opens('https://wiki.corp/'),
      risk({ kind: 'BrowserGetStorageAction' }),
      risk({ kind: 'BrowserSetStorageAction', storage_state: {} }),
    ]).toEqual(Array(7).fill('MEDIUM'));
  });

  it('are not led around by blanks before an address, the dot of the root, or an IPv4 address that is written as one of IPv6', () => {
    const secret = `ghp_${'a1'.repeat(18)}`;
    expect([opens(` https://x.test/?q=${secret}`), opens(`\n\tx.test/?q=${secret}`)]).toEqual(['HIGH', 'HIGH']);
    expect([
      opens(' 10.0.0.7:8080'),
      opens('https://wiki.corp./'),
      opens('http://[::ffff:10.0.0.7]/'),
      opens('http://[fd12::1]/'),
    ]).toEqual(Array(4).fill('MEDIUM'));
    expect(opens('http://[::ffff:140.82.121.4]/')).toBe('UNKNOWN');
  });

  it('say nothing of ordinary browsing', () => {
    expect([
      opens('http://localhost:3000/login'),
      opens('example.com/search?q=sk-learn'),
      opens('file:///workspace/index.html'),
      types('Ada Lovelace'),
      risk({ kind: 'BrowserClickAction', index: 3 }),
      risk({ kind: 'BrowserGetStateAction' }),
      opens('not an address at all ::'),
    ]).toEqual(Array(7).fill('UNKNOWN'));
  });
});
