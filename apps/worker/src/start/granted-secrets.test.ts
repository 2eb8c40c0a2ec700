import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { secretContext } from '@slipway/auth/envelope';
import type { SandboxSecrets } from '@slipway/contracts/agent';
import type { SecretKind, SecretScope } from '@slipway/contracts/secrets';
import { grantRepository } from '@slipway/db/conversations';
import { inOrg } from '@slipway/db/sql';
import { createSampleRepository, type GitServer, startGitServer } from '@slipway/testing';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('secrets of a conversation', () => {
  let harness: Harness;
  let git: GitServer;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-git-'));
    await createSampleRepository(directory, 'app.git', {
      '.openhands/setup.sh': 'printf %s "$SHARED" > ../shared.txt\n',
    });
    git = await startGitServer(directory);
    harness = await openHarness();
    await inOrg(harness.pool, ORG, (client) =>
      client.query("INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, 'O', 'company')", [ORG]),
    );
  });
  afterAll(async () => {
    await harness.close();
    await git.close();
    await rm(directory, { recursive: true, force: true });
  });

  const keep = async (
    name: string,
    scope: SecretScope,
    scopeValue: string,
    value: string,
    more: { kind?: SecretKind; host?: string; org?: string } = {},
  ): Promise<string> => {
    const { kind = 'variable', host = null, org = ORG } = more;
    const id = `sec_${randomUUID()}`;
    const { bytes, keyVersion } = await harness.envelope.seal(
      org,
      value,
      secretContext({ kind, scope, scopeValue, name }),
    );
    await inOrg(harness.pool, org, (client) =>
      client.query(
        `INSERT INTO app.secret (id, org_id, name, kind, scope, scope_value, host, description, sealed, key_version, masked, created_by, created_by_label, updated_by, updated_by_label)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'what for', $8, $9, true, 'u', 'u', 'u', 'u')`,
        [id, org, name, kind, scope, scopeValue, host, bytes, keyVersion],
      ),
    );
    return id;
  };
  const given = (conversation: string): SandboxSecrets | null =>
    harness.peers.sessions.get(conversation)?.sandbox?.secrets ?? null;
  const forget = (): Promise<unknown> => inOrg(harness.pool, ORG, (client) => client.query('DELETE FROM app.secret'));
  const uses = async (conversation: string): Promise<unknown[]> =>
    (
      await inOrg(harness.pool, ORG, (client) =>
        client.query("SELECT detail FROM app.audit_entry WHERE action = 'secret.use' AND target = $1", [conversation]),
      )
    ).rows.map(({ detail }) => detail);

  it('are those whose receiver it is, the narrowest of two with one name, and no others', async () => {
    const repository = `${git.url}/app.git`;
    const key = repository.replace(/\.git$/, '');
    const { id } = await harness.create({ repository });
    await inOrg(harness.pool, ORG, (client) =>
      client.query("UPDATE app.conversation SET environment = 'staging' WHERE id = $1", [id]),
    );
    for (const [scope, value] of [
      ['org', ''],
      ['environment', 'staging'],
      ['repository', key],
      ['person', 'usr_a'],
      ['conversation', id],
    ] as const) {
      const names = ['ORG', 'ENVIRONMENT', 'REPOSITORY', 'PERSON', 'CONVERSATION'].slice(
        ['org', 'environment', 'repository', 'person', 'conversation'].indexOf(scope),
      );
      for (const name of names) await keep(name, scope, value, `${scope} wins`);
    }
    await keep('SHARED', 'org', '', 'for the setup script', { host: 'login.example' });
    await keep('ELSE', 'environment', 'production', 'not this one');
    await keep('ELSE', 'repository', `${key}-other`, 'not this one');
    await keep('ELSE', 'person', 'usr_b', 'not this one');
    await keep('ELSE', 'conversation', randomUUID(), 'not this one');
    await keep('ELSE', 'org', '', 'not this one', { org: 'org_other' });
    await keep('WIDE', 'org', '', 'org token', { kind: 'git', host: 'git.example' });
    await keep('MINE', 'person', 'usr_a', 'my token', { kind: 'git', host: 'git.example' });
    await harness.start(id);
    expect(given(id)).toEqual({
      variables: {
        ORG: 'org wins',
        ENVIRONMENT: 'environment wins',
        REPOSITORY: 'repository wins',
        PERSON: 'person wins',
        CONVERSATION: 'conversation wins',
        SHARED: 'for the setup script',
      },
      hosts: { SHARED: 'login.example' },
      git: [{ name: 'MINE', host: 'git.example', username: 'x-access-token', password: 'my token' }],
    });
    const session = harness.peers.sessions.get(id);
    expect(execFileSync('cat', [path.join(session?.directory ?? '', 'shared.txt')], { encoding: 'utf8' })).toBe(
      'for the setup script',
    );
    expect(session?.sandbox?.conversation?.suffix).toContain('- ORG: what for');
    expect(session?.sandbox?.conversation?.suffix).not.toContain('wins');
    expect(JSON.stringify(await harness.log(id))).not.toMatch(/wins|my token|for the setup script/);
    await forget();
  });

  it('are noted when they are given: in the audit by name, once a start, and on the secret itself', async () => {
    const secret = await keep('NOTED', 'org', '', 'a value of it');
    const { id } = await harness.create();
    await harness.start(id);
    await harness.start(id);
    expect(await uses(id)).toEqual([{ names: ['NOTED'], secrets: [secret], epoch: 1 }]);
    const { rows } = await inOrg(harness.pool, ORG, (client) =>
      client.query('SELECT last_used_at FROM app.secret WHERE id = $1', [secret]),
    );
    expect(rows[0].last_used_at).toBeInstanceOf(Date);
    await forget();
  });

  it('that members have brought are not given where the organization does not allow it', async () => {
    await keep('MINE', 'person', 'usr_a', 'my own value');
    await keep('ORG', 'org', '', 'of the organization');
    const set = (value: boolean) =>
      inOrg(harness.pool, ORG, (client) =>
        client.query('UPDATE app.org SET settings = $2 WHERE id = $1', [ORG, JSON.stringify({ memberSecrets: value })]),
      );
    await set(false);
    const { id } = await harness.create();
    await harness.start(id);
    expect(given(id)?.variables).toEqual({ ORG: 'of the organization' });
    await set(true);
    await forget();
  });

  it('that were deleted are gone with the next start, and a conversation without any asks its sandbox for nothing', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    expect(given(id)).toBeNull();
    const again = async (): Promise<void> => {
      await harness.desire(id, 'rest');
      await harness.rest(id);
      await harness.desire(id, 'run');
      await harness.addJob('conversation-start', id);
      await harness.start(id);
    };
    await keep('LATER', 'org', '', 'came later on');
    await again();
    expect(given(id)?.variables).toEqual({ LATER: 'came later on' });
    await forget();
    await again();
    expect(given(id)).toEqual({ variables: {}, hosts: {}, git: [] });
  });

  const broker = async (name: string, use: object): Promise<void> => {
    // A data key, which the first value makes.
    const { bytes, keyVersion } = await harness.envelope.seal(ORG, 'a value that no worker opens', 'of a credential');
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.credential (id, org_id, name, description, form, scope, scope_value, use, hosts, sealed, key_version, reference_key, created_by, created_by_label, updated_by, updated_by_label)
         VALUES ($1, $2, $3, 'what for', $4::jsonb ->> 'form', 'org', '', $4, '{api.example.com:443}', $5, $6, 'reference key 16', 'u', 'u', 'u', 'u')`,
        [`crd_${randomUUID()}`, ORG, name, JSON.stringify(use), bytes, keyVersion],
      ),
    );
  };
  const set = (settings: object) =>
    inOrg(harness.pool, ORG, (client) =>
      client.query('UPDATE app.org SET settings = $2 WHERE id = $1', [ORG, JSON.stringify(settings)]),
    );
  const forgetCredentials = () =>
    inOrg(harness.pool, ORG, (client) => client.query('DELETE FROM app.credential WHERE org_id = $1', [ORG]));

  it('give way to a brokered credential of their name, of which the sandbox has a reference and never the value', async () => {
    const places = [{ host: 'api.example.com', port: 443, foreign: 'refuse' }];
    await keep('API_KEY', 'org', '', 'the real value');
    await keep('OTHER', 'org', '', 'another value');
    await broker('API_KEY', { form: 'placeholder', shape: 'sk-', places });
    await broker('BEARER', { form: 'bearer', places });
    const { id } = await harness.create();
    await harness.start(id);
    expect(given(id)).toEqual({
      variables: { OTHER: 'another value', API_KEY: expect.stringMatching(/^sk-slp_ref_API_KEY_/) },
      hosts: {},
      git: [],
    });
    const suffix = harness.peers.sessions.get(id)?.sandbox?.conversation?.suffix;
    expect(suffix).toContain('- API_KEY: what for');
    expect(suffix).toContain('- api.example.com: BEARER, what for');
    expect(await uses(id)).toEqual([expect.objectContaining({ names: ['OTHER'] })]);
    await forget();
    await forgetCredentials();
  });

  it('are not given where the organization gives sandboxes none, and the log says how many', async () => {
    await keep('VALUE', 'org', '', 'a variable');
    await keep('GIT', 'org', '', 'a token', { kind: 'git', host: 'git.example' });
    await broker('AWS', {
      form: 'aws-sigv4',
      accessKeyId: 'AKIAEXAMPLE',
      places: [{ host: 's3.example.com', port: 443, foreign: 'refuse' }],
    });
    await set({ secretsInSandbox: 'brokered-only' });
    const { id } = await harness.create({ repository: `${git.url}/app.git` });
    await harness.start(id);
    expect((await harness.row(id)).startStatus).toBe('READY');
    expect(given(id)).toEqual({
      variables: {
        AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
        AWS_SECRET_ACCESS_KEY: expect.any(String),
        AWS_EC2_METADATA_DISABLED: 'true',
      },
      hosts: {},
      git: [],
    });
    expect(await uses(id)).toEqual([]);
    expect(JSON.stringify(await harness.log(id))).toContain('2 secrets were not given');
    await set({ secretsInSandbox: 'allowed' });
    await forgetCredentials();
    const next = await harness.create();
    await harness.start(next.id);
    expect(given(next.id)).toMatchObject({ variables: { VALUE: 'a variable' }, git: [{ name: 'GIT' }] });
    await forget();
  });

  it('that cannot be opened end no start and let none go on without them', async () => {
    const id = await keep('BROKEN', 'org', '', 'cannot be opened');
    await inOrg(harness.pool, ORG, (client) =>
      client.query("UPDATE app.secret SET name = 'RENAMED' WHERE id = $1", [id]),
    );
    const conversation = await harness.create();
    await harness.start(conversation.id);
    const row = await harness.row(conversation.id);
    expect(row.startStatus).not.toBe('READY');
    expect(JSON.stringify(row.steps)).toContain('The secret RENAMED cannot be opened.');
    await forget();
  });

  it('are too large together in a sentence that says so', async () => {
    for (let index = 0; index < 17; index += 1) await keep(`LARGE_${index}`, 'org', '', 'x'.repeat(64 * 1024));
    const { id } = await harness.create();
    await harness.start(id);
    expect((await harness.row(id)).steps.find(({ status }) => status === 'ERROR')).toMatchObject({
      code: 'secret.too-large',
    });
    await forget();
  });

  it('hold an address of ours for a repository that was granted, and no credential of its host, unless there is a secret for that host', async () => {
    const { id } = await harness.create();
    const connection = randomUUID();
    await inOrg(harness.pool, ORG, async (client) => {
      await client.query(
        `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
         VALUES ($1, $2, 'gitea', 'token', 'n', 'git.example', 'sha256', '{"ids":[],"mention":"slipway"}', '{}', 'u', 'u')`,
        [connection, ORG],
      );
      // Nothing is granted by a connection that has no credential.
      await grantRepository(client, ORG, id, { connectionId: connection, fullName: 'acme/early' });
      await client.query(
        `INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, 'token', 'x', 1)`,
        [randomUUID(), ORG, connection],
      );
      await grantRepository(client, ORG, id, { connectionId: connection, fullName: 'acme/sho p' });
      await grantRepository(client, ORG, id, { connectionId: connection, fullName: 'acme/sho p' });
    });
    await harness.start(id);
    const path = `/ingest/v1/conversations/${id}/git/${connection}/acme/sho%20p`;
    expect(given(id)).toEqual({
      variables: {},
      hosts: {},
      git: [],
      relays: [
        {
          repository: 'https://git.example/acme/sho p',
          through: `http://app-server.test${path}`,
          token: expect.stringMatching(/^ey/),
        },
      ],
    });
    await keep('OWN', 'org', '', 'own token', { kind: 'git', host: 'git.example' });
    await inOrg(harness.pool, ORG, (client) =>
      client.query('UPDATE app.conversation SET epoch = epoch + 1 WHERE id = $1', [id]),
    );
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect(given(id)).toMatchObject({ git: [{ name: 'OWN' }] });
    expect(given(id)?.relays).toBeUndefined();
    await forget();
  });
});
