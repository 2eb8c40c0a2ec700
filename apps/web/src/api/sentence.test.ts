import { describe, expect, it } from '@jest/globals';
import { CreateApiKey } from '@slipway/contracts/identity';
import { UpdateOrgSettings } from '@slipway/contracts/organizations';
import { CreateSecret } from '@slipway/contracts/secrets';
import { Money } from '@slipway/contracts/spending';
import { t } from '../messages/testing.ts';
import { sentenceOf } from './sentence.ts';

/** By field; of several the first, as forms show it. */
const said = (
  schema: {
    safeParse: (value: unknown) => {
      error?: { issues: ReadonlyArray<{ path: PropertyKey[]; message: string }> } | undefined;
    };
  },
  value: unknown,
) =>
  Object.fromEntries(
    [...(schema.safeParse(value).error?.issues ?? [])]
      .reverse()
      .map(({ path, message }) => [path.join('.'), sentenceOf(t, message)]),
  );

describe('what a schema says of a field', () => {
  it('is a whole sentence about what was typed, for whoever typed it', () => {
    expect(said(CreateApiKey, { name: '', scopes: [] })).toMatchObject({
      name: 'This must not be empty.',
      scopes: 'Choose at least one.',
    });
    expect(said(Money, 'ten')).toEqual({ '': 'This must be an amount such as 25 or 12.50.' });
    expect(said(UpdateOrgSettings, { maxIterations: Number.NaN })).toEqual({ maxIterations: 'This is not a number.' });
    expect(said(UpdateOrgSettings, { maxIterations: 0 })).toEqual({ maxIterations: 'This must be at least 1.' });
    expect(said(CreateSecret, { name: 'PATH', kind: 'variable', value: 'x', scope: 'org' })).toMatchObject({
      name: 'This is a name that the shell, git or the sandbox itself uses.',
    });
  });
});
