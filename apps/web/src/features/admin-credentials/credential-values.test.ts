import { describe, expect, it } from '@jest/globals';
import { CreateCredential, type Credential, CredentialUse, UpdateCredential } from '@slipway/contracts/credentials';
import type { Secret } from '@slipway/contracts/secrets';
import {
  createRequest,
  isMovable,
  isOfLines,
  movedFrom,
  needsValue,
  newPlace,
  newUse,
  newValues,
  requestedUse,
  updateRequest,
  valuesOf,
} from './credential-values.ts';
import { PRESET_IDS, presetValues } from './presets.ts';

const KEY = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----';
const user = { id: 'usr_1', label: 'Demo' };
const credential = (use: unknown): Credential => ({
  id: 'cred_1',
  name: 'TOKEN',
  description: 'Of staging',
  scope: 'environment',
  scopeValue: 'staging',
  use: CredentialUse.parse(use),
  state: 'active',
  restingReason: null,
  expiresAt: null,
  expired: false,
  createdBy: user,
  createdAt: '2026-11-29T00:00:00Z',
  updatedBy: user,
  updatedAt: '2026-11-29T00:00:00Z',
  lastUsedAt: null,
});
const secret: Secret = {
  ...credential({ form: 'bearer', places: [{ host: 'api.example.com' }] }),
  id: 'sec_1',
  kind: 'git',
  host: 'git.example.com:8443',
  username: 'robot',
  scope: 'org',
  scopeValue: null,
  masked: true,
};

describe('the fields of a credential', () => {
  const uses = [
    { form: 'bearer', places: [{ host: 'api.example.com' }, { host: 'b.example.com', port: 8443, foreign: 'drop' }] },
    {
      form: 'basic',
      username: 'x',
      places: [{ host: 'git.example.com', paths: ['/acme/*'], git: { push: ['refs/heads/a/**', 'refs/heads/b'] } }],
    },
    { form: 'basic', places: [{ host: 'git.example.com', methods: ['GET'], git: {} }] },
    { form: 'bearer', places: [{ host: 'a.example.com', ask: 'each-use', usesPerConversation: 3 }] },
    { form: 'bearer', places: [{ host: 'a.example.com', ask: 'first-use' }] },
    { form: 'header', header: 'X-Key', prefix: 'Key ', places: [{ host: 'a.example.com', methods: ['HEAD', 'GET'] }] },
    {
      form: 'oauth-client-credentials',
      tokenUrl: 'https://login.example.com/token',
      clientId: 'agents',
      scope: 'read',
      audience: 'api',
      clientAuth: 'body',
      places: [{ host: 'a.example.com' }],
    },
    {
      form: 'token-exchange',
      tokenUrl: 'https://sts.example.com/token',
      subjectAudience: 'pool',
      audience: '//pool',
      resource: 'https://a.example.com/',
      scope: 'read',
      clientId: 'agents',
      clientAuth: 'body',
      places: [{ host: 'a.example.com' }],
    },
    {
      form: 'oauth-refresh-token',
      tokenUrl: 'https://login.example.com/token',
      clientId: 'agents',
      scope: 'read',
      clientAuth: 'none',
      places: [{ host: 'a.example.com' }],
    },
    {
      form: 'github-app',
      appId: '1',
      installationId: '42',
      account: 'acme',
      repositories: ['shop', 'other'],
      permissions: { contents: 'read', metadata: 'read' },
      places: [{ host: 'github.com', git: {} }],
    },
    { form: 'mtls', places: [{ host: 'a.example.com' }] },
    { form: 'workload-token', audience: 'https://api.example.com', places: [{ host: 'a.example.com' }] },
    { form: 'aws-sigv4', accessKeyId: 'AKIA1', places: [{ host: 'a.example.com', methods: ['POST', 'PATCH'] }] },
    { form: 'placeholder', shape: 'sk-', places: [{ host: 'a.example.com', foreign: 'allow', paths: ['/v1/**'] }] },
  ];

  it.each(uses.map((use) => [use.form, use] as const))('say what a %s was, in the order of the contract', (_, use) => {
    const known = credential(use);
    const sent = CredentialUse.parse(requestedUse(valuesOf(known, 'p').use));
    const sorted = (each: CredentialUse) =>
      each.places.map(({ methods, ...rest }) => ({ ...rest, methods: methods?.toSorted() }));
    expect({ ...sent, places: sorted(sent) }).toEqual({ ...known.use, places: sorted(known.use) });
    expect(needsValue(known, valuesOf(known, 'q').use)).toBe(false);
    expect(updateRequest(known, valuesOf(known, 'p'))).toEqual({});
  });

  it('ask for the value again with another place, and not with another description', () => {
    const known = credential(uses[0]);
    const values = valuesOf(known, 'p');
    expect(UpdateCredential.parse(updateRequest(known, { ...values, description: 'Other' }))).toEqual({
      description: 'Other',
    });
    const use = { ...values.use, places: values.use.places.slice(1) };
    expect(needsValue(known, use)).toBe(true);
    const issues = UpdateCredential.safeParse(updateRequest(known, { ...values, use })).error?.issues;
    expect(issues?.map(({ path }) => path)).toEqual([['value']]);
    expect(UpdateCredential.safeParse(updateRequest(known, { ...values, use, value: 'new' })).success).toBe(true);
  });

  it('name the field that is wrong, also inside a place', () => {
    const values = newValues('p');
    const use = newUse([newPlace('p', { host: 'localhost', port: 'x', methods: 'chosen', paths: 'v1' })]);
    const { error } = CreateCredential.safeParse(createRequest({ ...values, name: 'TOKEN', value: 'v', use }));
    expect(error?.issues.map(({ path }) => path.join('.')).toSorted()).toEqual([
      'use.places.0.host',
      'use.places.0.methods',
      'use.places.0.paths.0',
      'use.places.0.port',
    ]);
  });
});

describe('a refresh token', () => {
  it('is sent with the client secret as one value, or not at all', () => {
    const use = newUse([newPlace('p', { host: 'a.example.com' })], {
      form: 'oauth-refresh-token',
      tokenUrl: 'https://login.example.com/token',
      clientId: 'agents',
    });
    const values = { ...newValues('p'), name: 'TOKEN', value: 'rt', use };
    expect(CreateCredential.parse(createRequest({ ...values, clientSecret: 's' })).value).toBe(
      '{"refreshToken":"rt","clientSecret":"s"}',
    );
    expect(CreateCredential.safeParse(createRequest(values)).error?.issues.map(({ path }) => path)).toEqual([
      ['value'],
    ]);
    const none = { ...values, use: { ...use, clientAuth: 'none' as const } };
    expect(CreateCredential.parse(createRequest(none)).value).toBe('{"refreshToken":"rt"}');
    const known = credential(requestedUse(use));
    expect(updateRequest(known, valuesOf(known, 'q'))).toEqual({});
  });
});

describe('a preset', () => {
  it.each(PRESET_IDS)('makes %s complete but for the value and what is another everywhere', (preset) => {
    const { use, ...rest } = presetValues(newValues('p'), preset, 'q');
    const values = { ...rest, value: isOfLines(use) ? KEY : 'v' };
    const filled = {
      ...use,
      accessKeyId: use.accessKeyId || 'AKIA1',
      appId: '1',
      installationId: '42',
      account: 'acme',
      audience: use.audience || 'https://api.example.com',
      subjectAudience: use.subjectAudience || 'pool',
      places: use.places.map((place) => ({ ...place, host: place.host || 'index.example.com' })),
    };
    expect(CreateCredential.parse(createRequest({ ...values, use: filled })).name).toBe(values.name);
  });

  it('keeps a name that was typed, and replaces that of another preset', () => {
    const typed = { ...newValues('p'), name: 'MINE' };
    expect(presetValues(typed, 'npm', 'q').name).toBe('MINE');
    expect(presetValues(presetValues(newValues('p'), 'github', 'q'), 'npm', 'r').name).toBe('NPM_TOKEN');
  });
});

describe('a secret that moves', () => {
  it('brings its name, its scope and its git host, from which agents push to branches of their own', () => {
    const moved = movedFrom({ ...newValues('p'), source: 'secret' }, secret);
    expect(CreateCredential.parse(createRequest(moved))).toMatchObject({
      name: 'TOKEN',
      scope: 'org',
      fromSecret: 'sec_1',
      use: {
        form: 'basic',
        username: 'robot',
        places: [{ host: 'git.example.com', port: 8443, git: { push: ['refs/heads/slipway/**'] } }],
      },
    });
  });

  it('is none of a user or of one conversation', () => {
    expect(
      [secret, { ...secret, scope: 'person' as const }, { ...secret, scope: 'conversation' as const }].map(isMovable),
    ).toEqual([true, false, false]);
  });
});
