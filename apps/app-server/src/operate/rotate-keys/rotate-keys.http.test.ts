import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SecretBox } from '@slipway/auth';
import { credentialContext, Envelope, llmKeyContext, secretContext } from '@slipway/auth/envelope';
import { Credential } from '@slipway/contracts/credentials';
import { LlmProfile } from '@slipway/contracts/models';
import { Secret } from '@slipway/contracts/secrets';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { rotateKeys } from './rotate-keys.js';

/** As `testConfig` has it. */
const PRESENT = 'test-encryption-key-test-encryption-key';
const NEXT = 'the next master key of this installation';

describe('rotation of keys', () => {
  let app: ConversationApp;
  let user: User;
  let runtime: SqlPool;
  beforeAll(async () => {
    app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: 'test-egress-control-test-egress-control',
        CREDENTIAL_CONTROL_SECRET: 'test-credential-control-test-credential',
        INTERNAL_PORT: '0',
      },
    });
    user = await app.user();
    runtime = createPool({ url: app.database.urls.runtime, max: 2, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await runtime?.end();
    await app?.close();
  });

  it('leaves nothing that only the earlier key decrypts, in app and runtime, and signs no user out', async () => {
    const at = `/api/v1/orgs/${user.orgId}`;
    const secret = Secret.parse(
      (await app.http(user, 'POST', `${at}/secrets`, { name: 'KEPT', value: 'a value that is kept' })).body,
    );
    const profile = LlmProfile.parse(
      (await app.http(user, 'POST', `${at}/llm-profiles`, { name: 'P', model: 'm', apiKey: 'a key that is kept' }))
        .body,
    );
    const credential = Credential.parse(
      (
        await app.http(user, 'POST', `${at}/credentials`, {
          name: 'BROKERED',
          value: 'a credential that is kept',
          use: { form: 'bearer', places: [{ host: 'api.example.com', paths: ['/v1/**'] }] },
        })
      ).body,
    );
    const { id } = await app.conversation(user);
    await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'session-key-of-the-sandbox' });
    const sealed = (text: string, context: string): Buffer => app.box.encrypt(text, context);
    await app.owner.query(
      `INSERT INTO runtime.session (org_id, session_id, runtime_id, claim_id, request_hash, status, api_key, environment) VALUES ($1, 's', 'r', 'c', 'h', 'running', $2, $3)`,
      [
        user.orgId,
        sealed('runtime key', `runtime-key:${user.orgId}:s`),
        sealed('{}', `runtime-environment:${user.orgId}:s`),
      ],
    );
    const rotate = (days?: number) =>
      rotateKeys({ app: app.pool, runtime }, { current: NEXT, previous: PRESENT }, systemClock, days);
    expect(await rotate()).toMatchObject({
      renewed: {
        'app.org_data_key': 1,
        'app.session.tokens': 1,
        'app.conversation.sandbox_key': 1,
        'runtime.session.api_key': 1,
        'runtime.session.environment': 1,
      },
      rotated: 0,
      unopened: [],
    });
    expect((await rotate(0)).rotated).toBe(1);
    const again = await rotate();
    expect([Object.values(again.renewed).every((count) => count === 0), again.unopened]).toEqual([true, []]);

    const box = new SecretBox(NEXT);
    const envelope = new Envelope(app.pool, box, systemClock);
    const { rows } = await app.owner.query(
      `SELECT s.sealed, s.key_version, p.sealed_api_key, p.key_version AS profile_version, c.sandbox_key, r.api_key
       FROM app.secret s, app.llm_profile p, app.conversation c, runtime.session r WHERE s.id = $1 AND p.id = $2 AND c.id = $3`,
      [secret.id, profile.id, id],
    );
    const row = rows[0];
    expect([row.key_version, row.profile_version]).toEqual([2, 2]);
    expect(
      await envelope.open(
        user.orgId,
        { bytes: row.sealed, keyVersion: row.key_version },
        secretContext({ kind: 'variable', scope: 'org', scopeValue: '', name: 'KEPT' }),
      ),
    ).toBe('a value that is kept');
    expect(
      await envelope.open(
        user.orgId,
        { bytes: row.sealed_api_key, keyVersion: row.profile_version },
        llmKeyContext({ id: profile.id, baseUrl: null }),
      ),
    ).toBe('a key that is kept');
    const { rows: kept } = await app.owner.query('SELECT use, sealed, key_version FROM app.credential WHERE id = $1', [
      credential.id,
    ]);
    expect(
      await envelope.open(
        user.orgId,
        { bytes: kept[0].sealed, keyVersion: kept[0].key_version },
        credentialContext({ id: credential.id, name: 'BROKERED', scope: 'org', scopeValue: '', use: kept[0].use }),
      ),
    ).toBe('a credential that is kept');
    expect(kept[0].key_version).toBe(2);
    expect(box.decrypt(row.sandbox_key, `sandbox-key:${id}`)).toBe('session-key-of-the-sandbox');
    expect(box.decrypt(row.api_key, `runtime-key:${user.orgId}:s`)).toBe('runtime key');
    expect((await app.http(user, 'GET', '/api/v1/me')).status).toBe(200);
  });

  it('names what no key opens and does not touch it', async () => {
    await app.owner.query("UPDATE app.session SET tokens = 'broken'");
    const report = await rotateKeys({ app: app.pool, runtime }, { current: NEXT }, systemClock);
    expect(report.unopened).toEqual([expect.stringMatching(/^app\.session\.tokens /)]);
  });
});
