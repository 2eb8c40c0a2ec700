import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideEgress, EGRESS_SCOPES, type EgressRuleOf, type EgressVerdict } from './egress-decision.js';
import { type HostPattern, readHostPattern } from './egress-hosts.js';

const OPEN = new Set([80, 443]);
const NOW = 1_000;
const pattern = (text: string): HostPattern => {
  const read = readHostPattern(text);
  if (read === null) throw new Error(text);
  return read;
};
let ids = 0;
const rule = (text: string, more: Partial<EgressRuleOf> = {}): EgressRuleOf => ({
  id: `r${++ids}`,
  scope: 'organization',
  pattern: pattern(text),
  action: 'allow',
  endsAt: null,
  once: false,
  ...more,
});
const ask = (rules: readonly EgressRuleOf[], host: string, port = 443, openedBy: string | null = null): EgressVerdict =>
  decideEgress(rules, OPEN, { host, port, now: NOW, openedBy });

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
      }),
      { maxLength: 12 },
    );
    let decided = 0;
    fc.assert(
      fc.property(
        rules,
        host,
        fc.constantFrom(80, 443, 8443),
        fc.option(fc.nat({ max: 11 })),
        (list, name, port, at) => {
          const all = list.map(({ text, ...more }) => rule(text, more));
          const openedBy = at === null ? null : (all[at]?.id ?? null);
          const { verdict } = ask(all, name, port, openedBy);
          expect(verdict).toBe(slowly(all, name, port, openedBy));
          if (verdict !== 'unknown') decided += 1;
        },
      ),
      { numRuns: 2_000 },
    );
    expect(decided).toBeGreaterThan(100);
  });
});

/** Text against text, without the code under test. */
function slowly(all: readonly EgressRuleOf[], host: string, port: number, openedBy: string | null): string {
  const about = all.filter(({ pattern: { host: named, below } }) =>
    below ? new RegExp(`^.+\\.${named.replaceAll('.', '\\.')}$`).test(host) : named === host,
  );
  const holds = about.filter(({ endsAt, once, id }) => endsAt === null || endsAt > NOW || (once && id === openedBy));
  const refused = holds.filter(
    ({ action, pattern: { port: named } }) => action === 'deny' && [null, port].includes(named),
  );
  const permitted = holds.filter(
    ({ action, pattern: { port: named } }) =>
      action === 'allow' && (named === port || (named === null && [80, 443].includes(port))),
  );
  return refused.length > 0 ? 'deny' : permitted.length > 0 ? 'allow' : 'unknown';
}
