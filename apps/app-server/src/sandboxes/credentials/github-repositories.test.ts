import { describe, expect, it } from '@jest/globals';
import { CredentialUse } from '@slipway/contracts/credentials';
import { githubRepositories } from './github-repositories.js';

const use = (more: object = {}) =>
  CredentialUse.parse({
    form: 'github-app',
    appId: '1',
    installationId: '42',
    account: 'acme',
    places: [{ host: 'github.com' }],
    ...more,
  }) as Extract<CredentialUse, { form: 'github-app' }>;

describe('the repositories of a GitHub App’s token', () => {
  it('are those that the credential names, whatever the conversation is on', () => {
    const named = use({ repositories: ['shop', 'other'] });
    for (const repository of [null, 'https://github.com/evil/shop'])
      expect(githubRepositories(named, repository)).toEqual(['shop', 'other']);
  });

  it('are else the conversation’s own', () => {
    for (const repository of [
      'https://github.com/acme/shop',
      'https://GitHub.com/ACME/shop.git',
      'https://github.com/acme/shop/',
    ])
      expect(githubRepositories(use(), repository)).toEqual(['shop']);
    const enterprise = use({ apiUrl: 'https://git.acme.example.com/api/v3' });
    expect(githubRepositories(enterprise, 'https://git.acme.example.com/acme/shop')).toEqual(['shop']);
    expect(githubRepositories(enterprise, 'https://github.com/acme/shop')).toEqual([]);
    const resident = use({ apiUrl: 'https://api.acme.ghe.com' });
    expect(githubRepositories(resident, 'https://acme.ghe.com/acme/shop')).toEqual(['shop']);
  });

  it.each([
    'https://github.com/evil/shop',
    'https://github.com/acme/evil/shop',
    'https://github.com/evil/acme/shop',
    'https://evil.example/acme/shop',
    'https://github.com.evil.example/acme/shop',
    'https://api.github.com/acme/shop',
    'https://github.com:8443/acme/shop',
    'http://github.com/acme/shop',
    'https://github.com/acme%2Fshop',
    'https://github.com/acme/sh%2Fop',
    'https://github.com/acme',
    'github:acme/shop',
  ])('adversary: are none for a conversation on %s', (repository) => {
    expect(githubRepositories(use(), repository)).toEqual([]);
  });
});
