import { describe, expect, it } from '@jest/globals';
import { CREDENTIAL_SCOPES } from '@slipway/contracts/credentials';
import fc from 'fast-check';
import { type CredentialScoped, credentialsOf } from './credentials-of.js';

const values = {
  org: [''],
  environment: ['staging', 'production'],
  repository: ['https://g.example/a', 'https://g.example/b'],
};
const credential: fc.Arbitrary<CredentialScoped> = fc.constantFrom(...CREDENTIAL_SCOPES).chain((scope) =>
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 3 }),
    name: fc.constantFrom('A', 'B', 'C'),
    scope: fc.constant(scope),
    scopeValue: fc.constantFrom(...values[scope]),
  }),
);
const receiver = fc.record({
  environment: fc.constantFrom(null, ...values.environment),
  repository: fc.constantFrom(null, ...values.repository),
});

describe('the credentials of a conversation', () => {
  it('are those of its scopes and no others, the narrowest first, whatever order they are kept in', () => {
    fc.assert(
      fc.property(fc.array(credential, { maxLength: 12 }), receiver, fc.infiniteStream(fc.nat()), (all, to, order) => {
        const found = credentialsOf(all, to);
        const may = ({ scope, scopeValue }: CredentialScoped): boolean =>
          scope === 'org' || scopeValue === (scope === 'environment' ? to.environment : to.repository);
        expect(new Set(found)).toEqual(new Set(all.filter(may)));
        for (const [index, one] of found.entries())
          for (const later of found.slice(index + 1))
            expect(CREDENTIAL_SCOPES.indexOf(one.scope)).toBeGreaterThanOrEqual(CREDENTIAL_SCOPES.indexOf(later.scope));
        const shuffled = all
          .map((each) => [order.next().value as number, each] as const)
          .sort(([one], [other]) => one - other)
          .map(([, each]) => each);
        expect(credentialsOf(shuffled, to)).toEqual(found);
      }),
    );
  });
});
