import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decideEgress,
  decideRequest,
  EGRESS_SCOPES,
  type EgressRuleOf,
  type EgressVerdict,
  type RequestLimits,
} from './egress-decision.js';
import { type HostPattern, readHostPattern } from './egress-hosts.js';

const OPEN = new Set([80, 443]);
const NOW = 1_000;
const pattern = (text: string): HostPattern => {
  const read = readHostPattern(text);
  if (read === null) throw new Error(text);
  return read;
};
const METHODS = ['GET', 'POST', 'DELETE'] as const;
const READ: RequestLimits = { methods: ['GET', 'HEAD'], paths: null };
let ids = 0;
const rule = (text: string, more: Partial<EgressRuleOf> = {}): EgressRuleOf => ({
  id: `r${++ids}`,
  scope: 'organization',
  pattern: pattern(text),
  action: 'allow',
  endsAt: null,
  once: false,
  limits: null,
  ...more,
});
const ask = (rules: readonly EgressRuleOf[], host: string, port = 443, openedBy: string | null = null) =>
  decideEgress(rules, OPEN, { host, port, now: NOW, openedBy });
const send = (rules: readonly EgressRuleOf[], method: string, path: string): EgressVerdict =>
  decideRequest(rules, OPEN, { host: 'a.example.com', port: 443, now: NOW, openedBy: null, method, path });

describe('the rules of an organization for connections of its sandboxes', () => {
  it('know nothing of a host that none names, and of a port that none opens', () => {
    const rules = [rule('api.example.com'), rule('db.example.com:5432')];
    expect(ask(rules, 'other.example.com').verdict).toBe('unknown');
    expect(ask(rules, 'api.example.com', 22).verdict).toBe('unknown');
    expect(ask(rules, 'db.example.com').verdict).toBe('unknown');
    expect(ask(rules, 'db.example.com', 5432).verdict).toBe('allow');
  });

  it('refuse by a refusal of any scope, whatever is permitted beside it, on every port', () => {
    for (const scope of EGRESS_SCOPES) {
      const rules = [
        rule('a.example.com', { scope: 'conversation' }),
        rule('*.example.com', { scope, action: 'deny' }),
      ];
      expect(ask(rules, 'a.example.com')).toMatchObject({ verdict: 'deny', rule: { scope } });
      expect(ask(rules.toReversed(), 'a.example.com', 8443).verdict).toBe('deny');
    }
  });

  it('of permissions the narrowest is named', () => {
    const rules = EGRESS_SCOPES.map((scope) => rule('a.example.com', { scope }));
    expect(ask(rules.toReversed(), 'a.example.com')).toMatchObject({ rule: { scope: 'conversation' } });
  });

  it('end at their moment; what one given once has let through goes on, and nothing else does', () => {
    const over = rule('a.example.com', { endsAt: NOW });
    const once = rule('b.example.com', { endsAt: NOW, once: true });
    expect(ask([over], 'a.example.com', 443, over.id).verdict).toBe('unknown');
    expect(ask([once], 'b.example.com').verdict).toBe('unknown');
    expect(ask([once], 'b.example.com', 443, once.id).verdict).toBe('allow');
    expect(ask([once, rule('b.example.com', { action: 'deny' })], 'b.example.com', 443, once.id).verdict).toBe('deny');
    expect(ask([], 'b.example.com', 443, once.id).verdict).toBe('unknown');
  });

  it('limited to requests open their host: a permission lets the connection through, a refusal does not keep it', () => {
    const reads = rule('a.example.com', { limits: READ });
    const writes = rule('*.example.com', { action: 'deny', limits: { methods: ['POST'], paths: null } });
    expect(ask([reads], 'a.example.com')).toEqual({ verdict: 'allow', rule: reads, opened: true });
    expect(ask([writes], 'a.example.com')).toEqual({ verdict: 'unknown', opened: true });
    expect(ask([reads], 'b.example.com')).toEqual({ verdict: 'unknown', opened: false });
    expect(ask([rule('a.example.com')], 'a.example.com').opened).toBe(false);
    expect(send([writes, rule('a.example.com')], 'POST', '/x')).toMatchObject({ verdict: 'deny', rule: writes });
    expect(send([writes, rule('a.example.com')], 'GET', '/x').verdict).toBe('allow');
    expect(send([reads], 'POST', '/x').verdict).toBe('unknown');
  });

  it('limited to requests of another port are about port 80 too, where a request would pass in clear', () => {
    for (const action of ['allow', 'deny'] as const)
      expect(ask([rule('a.example.com:8443', { action, limits: READ })], 'a.example.com', 80).opened).toBe(true);
    expect(ask([rule('a.example.com:8443', { limits: READ })], 'a.example.com').opened).toBe(false);
  });

  it('that refuse a path refuse every spelling that a server may take for it; a permission takes its own alone', () => {
    const paths = ['/repos/*/hooks/**', '/@scope%2fname'];
    const deny = [rule('a.example.com', { action: 'deny', limits: { methods: null, paths } }), rule('a.example.com')];
    const allow = [rule('a.example.com', { limits: { methods: null, paths } })];
    for (const path of ['/repos/a/hooks', '/repos/a/hooks/1', '/@scope%2Fname'])
      expect([send(deny, 'GET', path).verdict, send(allow, 'GET', path).verdict]).toEqual(['deny', 'allow']);
    for (const path of ['/Repos/a/HOOKS', '/repos/a%2Fb/hooks/1', '/repos/a/hooks/', '/repos/a/hooks;x', '/repos/a%2Fhooks', '/@scope/name',
      '/repos/a/hook%73', '/repos/a;b/hooks%3Bx/1']) // biome-ignore format: a list reads better in lines
      expect([path, send(deny, 'GET', path).verdict]).toEqual([path, 'deny']);
    for (const path of ['/Repos/a/hooks', '/repos/a%2Fb/hooks', '/repos/a%2Fhooks', '/@scope/name', '/repos/a/hooks;x'])
      expect([path, send(allow, 'GET', path).verdict]).toEqual([path, 'unknown']);
    for (const path of ['/repos/a/hooked', '/repos/hooks', '/other'])
      expect(send(deny, 'GET', path).verdict).toBe('allow');
  });

  it('property: decide as a slow reference does that sorts all rules first', () => {
    const host = fc.constantFrom('a.example.com', 'b.a.example.com', 'example.com', 'c.example.org');
    const rules = fc.array(
      fc.record({
        text: fc.constantFrom(
          'a.example.com',
          '*.example.com',
          '*.a.example.com',
          'example.com:8443',
          'c.example.org:443',
        ),
        scope: fc.constantFrom(...EGRESS_SCOPES),
        action: fc.constantFrom('allow' as const, 'deny' as const),
        endsAt: fc.option(fc.constantFrom(NOW - 1, NOW, NOW + 1)),
        once: fc.boolean(),
        limits: fc.option(
          fc.record({
            methods: fc.option(fc.subarray([...METHODS], { minLength: 1 })),
            paths: fc.option(fc.subarray(['/', '/v1/**', '/v1/*', '/v2/a'], { minLength: 1 })),
          }),
        ),
      }),
      { maxLength: 12 },
    );
    let decided = 0;
    let requests = 0;
    fc.assert(
      fc.property(
        rules,
        host,
        fc.constantFrom(80, 443, 8443),
        fc.option(fc.nat({ max: 11 })),
        fc.record({
          method: fc.constantFrom(...METHODS),
          path: fc.constantFrom('/', '/v1', '/v1/a', '/v1/a/b', '/v2/a'),
        }),
        (list, name, port, at, request) => {
          const all = list.map(({ text, ...more }) => rule(text, more));
          const openedBy = at === null ? null : (all[at]?.id ?? null);
          const { verdict } = ask(all, name, port, openedBy);
          expect(verdict).toBe(slowly(all, name, port, openedBy));
          if (verdict !== 'unknown') decided += 1;
          const attempt = { host: name, port, now: NOW, openedBy, ...request };
          const judged = decideRequest(all, OPEN, attempt);
          const { verdict: wanted, scopes } = slowlyRequest(all, attempt);
          expect(judged.verdict).toBe(wanted);
          if (judged.verdict !== 'unknown') {
            requests += 1;
            expect(scopes).toContain(judged.rule.scope);
          }
          // A refused connection has only refused requests, and an unopened one is judged as a whole.
          if (verdict === 'deny') expect(judged.verdict).toBe('deny');
          if (!ask(all, name, port, openedBy).opened) expect(judged.verdict).toBe(verdict);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(Math.min(decided, requests)).toBeGreaterThan(100);
  });
});

/** Text against text, without the code under test. */
function slowly(all: readonly EgressRuleOf[], host: string, port: number, openedBy: string | null): string {
  const about = aboutHost(all, host, port, openedBy);
  const refused = about.filter(({ action, limits }) => action === 'deny' && limits === null);
  const permitted = about.filter(({ action }) => action === 'allow');
  return refused.length > 0 ? 'deny' : permitted.length > 0 ? 'allow' : 'unknown';
}

function slowlyRequest(
  all: readonly EgressRuleOf[],
  asked: { host: string; port: number; openedBy: string | null; method: string; path: string },
): { verdict: EgressVerdict['verdict']; scopes: string[] } {
  const texts = (paths: readonly string[]): string[] =>
    paths.map((path) => `${path.replace(/\/\*\*$/, '(/.*)?').replace(/\*$/, '[^/]+')}`);
  const about = aboutHost(all, asked.host, asked.port, asked.openedBy).filter(
    ({ limits }) =>
      (limits?.methods ?? [asked.method]).includes(asked.method) &&
      (limits?.paths == null || texts(limits.paths).some((text) => new RegExp(`^${text}$`).test(asked.path))),
  );
  const of = (action: string): string[] => about.flatMap((each) => (each.action === action ? [each.scope] : []));
  if (of('deny').length > 0) return { verdict: 'deny', scopes: of('deny') };
  const [narrowest] = EGRESS_SCOPES.filter((scope) => of('allow').includes(scope));
  return narrowest === undefined ? { verdict: 'unknown', scopes: [] } : { verdict: 'allow', scopes: [narrowest] };
}

function aboutHost(all: readonly EgressRuleOf[], host: string, port: number, openedBy: string | null): EgressRuleOf[] {
  return all
    .filter(({ pattern: { host: named, below } }) =>
      below ? new RegExp(`^.+\\.${named.replaceAll('.', '\\.')}$`).test(host) : named === host,
    )
    .filter(({ endsAt, once, id }) => endsAt === null || endsAt > NOW || (once && id === openedBy))
    .filter(
      ({ action, limits, pattern: { port: named } }) =>
        named === port || (limits !== null && port === 80) || (named === null && (action === 'deny' || port !== 8443)),
    );
}
