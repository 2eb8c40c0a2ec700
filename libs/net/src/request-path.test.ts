import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchesPath } from './path-pattern.js';
import { readRequestTarget } from './request-path.js';

describe('readRequestTarget', () => {
  it('reads path and query', () => {
    expect(readRequestTarget('/a/%62%2f?x=%2e%2e//\\')).toEqual({
      path: '/a/b%2F',
      rawPath: '/a/%62%2f',
      query: 'x=%2e%2e//\\',
    });
    expect(readRequestTarget('/')).toEqual({ path: '/', rawPath: '/', query: null });
    expect(readRequestTarget('/a/?')).toMatchObject({ path: '/a/', query: '' });
    expect(readRequestTarget('/@scope%2fname')?.path).toBe('/@scope%2Fname');
    expect(readRequestTarget('/a..b/...;x/.git/c.')?.path).toBe('/a..b/...;x/.git/c.');
  });

  it.each([
    '', 'a', '*', 'https://a.example/', '//a', '/a//b', '/..', '/a/..', '/a/../b', '/./a', '/%2e%2e/a', '/%2E./a', '/a/..;x/b',
    '/..%3bx', '/a%2f..%2fb', '/a/..%2fb', '/a\\b', '/a%5cb', '/a%00', '/a%0d%0a', '/a%7f', '/a%', '/a%g0', '/ä', '/a b', '/a\r',
    '/a#b', '/%252e%252e/a', '/%25252e/a', '/a%252fb', '/a%255cb', '/.;/a',
  ])('refuses %j', (target) => expect(readRequestTarget(target)).toBeNull()); // biome-ignore format: a list reads better in lines

  const piece = fc.constantFrom(
    'a', 'B', '.', '..', '%2e', '%2E%2e', '%2f', '%2F', '/', '//', '\\', '%5c', ';', '%3b', '%', '%25', '%252e', '~', '%41', '%c3', '\r', 'ä', '*', '0',
  ); // biome-ignore format: a list reads better in lines
  const target = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`);

  it('never lets a path through that some server resolves to another place', () => {
    fc.assert(
      fc.property(target, (text) => {
        const read = readRequestTarget(text);
        if (read === null) return;
        for (const { dots } of readings(read.rawPath)) expect(dots).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('lets through only what stays below the allowed path, whoever reads it', () => {
    fc.assert(
      fc.property(target, (rest) => {
        const read = readRequestTarget(`/allowed${rest}`);
        if (read === null || !matchesPath('/allowed/**', read.path)) return;
        for (const { path } of readings(read.rawPath)) expect(`${path}/`.startsWith('/allowed/')).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});

interface Reading {
  readonly path: string;
  /** Whether a dot segment had to be resolved. */
  readonly dots: boolean;
}

/**
 * What servers of different habits make of a path: they decode once or twice or not, take `\` for `/`, cut `;…` off,
 * merge slashes; written slowly and by itself.
 */
function readings(raw: string): Reading[] {
  const found: Reading[] = [];
  for (const decodes of [0, 1, 2])
    for (const backslash of [false, true])
      for (const cuts of [false, true]) {
        let text = raw;
        for (let each = 0; each < decodes; each += 1) text = decode(text);
        if (backslash) text = text.split('\\').join('/');
        const stack: string[] = [];
        let dots = false;
        for (const part of text.split('/')) {
          const segment = cuts ? (part.split(';')[0] ?? '') : part;
          if (segment === '..') stack.pop();
          if (segment === '..' || segment === '.') dots = true;
          else if (segment !== '') stack.push(segment);
        }
        found.push({ path: `/${stack.join('/')}`, dots });
      }
  return found;
}

function decode(text: string): string {
  let out = '';
  for (let index = 0; index < text.length; index += 1) {
    const hex = text.slice(index + 1, index + 3);
    if (text[index] === '%' && /^[0-9a-fA-F]{2}$/.test(hex)) {
      out += String.fromCharCode(Number.parseInt(hex, 16));
      index += 2;
    } else out += text[index];
  }
  return out;
}

describe('matchesPath', () => {
  it.each([
    ['/**', '/', true],
    ['/**', '/a/b', true],
    ['/v1/**', '/v1', true],
    ['/v1/**', '/v1/', true],
    ['/v1/**', '/v1/a/b%2Fc', true],
    ['/v1/**', '/v10', false],
    ['/V1/**', '/v1/a', false],
    ['/repos/acme/*', '/repos/acme/x', true],
    ['/repos/acme/*', '/repos/acme/x/hooks', false],
    ['/repos/acme/*', '/repos/acme/x%2Fhooks', false],
    ['/repos/acme/*', '/repos/acme/', false],
    ['/a/', '/a/', true],
    ['/a/', '/a', false],
    ['/', '/', true],
    ['/@scope%2fname', '/@scope%2Fname', true],
    ['/%61', '/a', true],
    ['/x%zz', '/x%zz', false],
  ])('%s and %s: %s', (pattern, path, matches) => expect(matchesPath(pattern, path)).toBe(matches));

  it('agrees with a regular expression made of the pattern', () => {
    const segment = fc.constantFrom('a', 'b', 'c.d', '*');
    const patterns = fc
      .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '/', '/**'))
      .map(([segments, end]) => ({
        pattern: `/${segments.join('/')}${end}`,
        source: `/${segments.map((each) => (each === '*' ? '(?:(?!%2F)[^/])+' : each.replace('.', '\\.'))).join('/')}${end === '/**' ? '(?:/.*)?' : end}`,
      }));
    const paths = fc
      .tuple(fc.array(fc.constantFrom('a', 'b', 'c.d', 'cxd', 'e%2Ff'), { maxLength: 5 }), fc.constantFrom('', '/'))
      .map(([segments, end]) => `/${segments.join('/')}${segments.length === 0 ? '' : end}`);
    fc.assert(
      fc.property(patterns, paths, ({ pattern, source }, path) => {
        expect(matchesPath(pattern, path)).toBe(new RegExp(`^${source}$`).test(path));
      }),
      { numRuns: 2_000 },
    );
  });
});
