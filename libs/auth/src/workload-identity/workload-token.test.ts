import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { WorkloadClaims } from '@slipway/contracts/credentials';
import fc from 'fast-check';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { workloadSubject, workloadToken } from './workload-token.js';

const NOW = new Date('2026-01-01T00:00:00.900Z');

/** By its grammar alone: what somebody reads who compares parts. */
function parts(subject: string): Record<string, string> | null {
  const found = /^org:(?<org>[^:/]*):env:(?<environment>[^:/]*):repo:(?<repository>[^:]*)$/.exec(subject)?.groups;
  if (found === undefined) return null;
  const { org = '', environment = '', repository = '' } = found;
  return {
    org: decodeURIComponent(org),
    environment: decodeURIComponent(environment),
    repository: repository.split('/').map(decodeURIComponent).join('\n'),
  };
}

describe('the subject of a workload', () => {
  it('names organization, environment and repository', () => {
    const of = (repository: string | null, environment: string | null = 'staging') =>
      workloadSubject({ org: 'org_1', environment, repository });
    expect(of('https://GitHub.com/acme/shop.git/')).toBe('org:org_1:env:staging:repo:github.com/acme/shop');
    expect(of(null, null)).toBe('org:org_1:env::repo:');
    expect(of('https://git.example.com:8443/acme/group/shop')).toBe(
      'org:org_1:env:staging:repo:git.example.com%3A8443/acme/group/shop',
    );
    // What is not cloned over https is not the same repository.
    expect(of('http://github.com/acme/shop')).toBe('org:org_1:env:staging:repo:http%3A%2F%2Fgithub.com/acme/shop');
    expect(of('gitea:acme/shop')).toBe('org:org_1:env:staging:repo:gitea%3Aacme%2Fshop');
  });

  it.each([
    'https://github.com/evil/x:org:org_2:env:production:repo:github.com/acme/shop',
    'https://github.com/evil/x%3Aenv%3Aproduction',
    'https://github.com/evil/..%2f..%2facme/shop',
    'https://github.com/evil%2Facme/shop',
    'https://github.com/acme/*',
    'https://github.com@evil.example/acme/shop',
    'https://evil.example/github.com/acme/shop',
    'https://github.com/acme/shop/.git',
    'https://github.com/acme/shop%00',
    'github.com/acme/shop',
  ])('adversary: a repository named %s is not another repository, environment or organization', (repository) => {
    const subject = workloadSubject({ org: 'org_1', environment: 'staging', repository });
    expect(subject).not.toBe('org:org_1:env:staging:repo:github.com/acme/shop');
    expect(subject).toMatch(/^org:org_1:env:staging:repo:[A-Za-z0-9._~%/-]*$/);
    expect(subject).not.toMatch(/:env:production|org_2:/);
  });

  it('adversary: any text in the place of a name comes back as that name and as nothing else', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, text, text, (org, environment, repository) => {
        fc.pre(!/^https?:/.test(repository));
        expect(parts(workloadSubject({ org, environment, repository }))).toEqual({ org, environment, repository });
      }),
    );
  });
});

describe('a workload token', () => {
  it('says whose it is, is valid for ten minutes at most and for its audience, and is signed with ES256', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const workload = {
      org: 'org_1',
      conversation: 'cnv',
      claim: 'clm',
      user: 'usr_1',
      environment: null,
      repository: 'https://github.com/acme/shop',
    };
    const token = await workloadToken({ id: 'kid_1', key: privateKey }, workload, {
      issuer: 'https://slipway.example.com/oauth/identity',
      audience: 'https://api.example.com',
      now: NOW,
      tokenId: 'jti_1',
    });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: 'kid_1', typ: 'JWT' });
    const checks = { currentDate: NOW, issuer: 'https://slipway.example.com/oauth/identity' };
    const { payload } = await jwtVerify(token, publicKey, { ...checks, audience: 'https://api.example.com' });
    const iat = Math.floor(NOW.getTime() / 1000);
    expect(WorkloadClaims.parse(payload)).toEqual({
      iss: checks.issuer,
      sub: 'org:org_1:env::repo:github.com/acme/shop',
      aud: 'https://api.example.com',
      conversation_id: 'cnv',
      claim_id: 'clm',
      user: 'usr_1',
      iat,
      nbf: iat,
      exp: iat + 600,
      jti: 'jti_1',
    });
    await expect(jwtVerify(token, publicKey, { ...checks, audience: 'https://other.example.com' })).rejects.toThrow();
    const late = new Date(NOW.getTime() + 600_000);
    await expect(jwtVerify(token, publicKey, { ...checks, currentDate: late })).rejects.toThrow();
  });
});
