import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalHost, type HostPattern, isName, namesHost, readHostPattern } from './egress-hosts.js';

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 2, maxLength: 5 }).map((labels) => labels.join('.'));
const pattern = (text: string): HostPattern => readHostPattern(text) as HostPattern;

describe('the host of a request', () => {
  it('has one form, whatever the case of its letters and with or without the dot at its end', () => {
    fc.assert(
      fc.property(name, fc.boolean(), fc.func(fc.boolean()), (host, dot, upper) => {
        const written = [...host]
          .map((character, index) => (upper(index) ? character.toUpperCase() : character))
          .join('');
        expect(canonicalHost(`${written}${dot ? '.' : ''}`)).toBe(host);
      }),
    );
    expect(canonicalHost('[2606:50C0:8000:0:0:0:0:153]')).toBe('2606:50c0:8000::153');
    expect(canonicalHost('[::ffff:10.0.0.1]')).toBe('::ffff:a00:1');
    expect(canonicalHost('192.0.2.7')).toBe('192.0.2.7');
  });

  for (const text of [
    '', '.', '..', 'a..b', '.a.b', 'a.b..', '127.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '010.0.0.1', '1.2.3.4.5', '256.0.0.1', '1.2.3.0x4', 'example.com.0x',
    'bücher.example', 'exam\u2024ple.com', '\uff11\uff12\uff17.0.0.1', 'example.com\0', 'example.com%2e', 'a b.example', 'user@example.com', 'example.com/x', 'example.com:80', '-a.example', 'a-.example',
    '::1', '[::1', '[::1%25eth0]', '[::1%eth0]', '[v1.x]', '[]', 'example.com\r\nHost: x', `${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}example`,
  ]) // biome-ignore format: a list reads better in lines
    it(`is nothing that can be compared when it is ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(canonicalHost(text)).toBeNull();
    });
});

describe('an entry of a list of hosts', () => {
  it('that is a name is about this name alone', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(namesHost(pattern(one), other)).toBe(one === other);
        expect(namesHost(pattern(one), `sub.${one}`)).toBe(false);
        expect(namesHost(pattern(one), `x${one}`)).toBe(false);
        expect(namesHost(pattern(one), `${one}.evil.example`)).toBe(false);
      }),
    );
  });

  it('with a star is about every name below, at any depth, and neither about the name itself nor about one that only ends like it', () => {
    fc.assert(
      fc.property(name, fc.array(label, { minLength: 1, maxLength: 3 }), (parent, labels) => {
        const below = pattern(`*.${parent}`);
        expect(namesHost(below, `${labels.join('.')}.${parent}`)).toBe(true);
        expect(namesHost(below, parent)).toBe(false);
        expect(namesHost(below, `${labels.join('')}${parent}`)).toBe(false);
        expect(namesHost(below, `${parent}.${labels.join('.')}`)).toBe(labels.join('.').endsWith(`.${parent}`));
      }),
    );
  });

  it('may be about one port, or an address', () => {
    expect(pattern('Mirror.Example.COM.:8443')).toEqual({ host: 'mirror.example.com', below: false, port: 8443 });
    expect(pattern('*.example.com:8443')).toEqual({ host: 'example.com', below: true, port: 8443 });
    expect(pattern('[2001:DB8::0:1]:443')).toEqual({ host: '2001:db8::1', below: false, port: 443 });
    expect(namesHost(pattern('192.0.2.7'), '192.0.2.7')).toBe(true);
    expect([isName('192.0.2.7'), isName('2001:db8::1'), isName('a.example')]).toEqual([false, false, true]);
  });

  for (const text of [
    '',
    '*',
    '*.',
    '*.com',
    'com',
    'localhost',
    '*.*.example.com',
    'a.*.example.com',
    '*example.com',
    '*.192.0.2.7',
    'https://example.com',
    'example.com:0',
    'example.com:70000',
    'example.com:',
    '192.0.2.0/24',
    '*.[2001:db8::1]',
  ])
    it(`cannot be ${JSON.stringify(text)}`, () => {
      expect(readHostPattern(text)).toBeNull();
    });
});
