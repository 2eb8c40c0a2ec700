import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { Company } from '../../testing/company.js';
import { ConversationApp } from '../../testing/conversation-app.js';

const run = promisify(execFile);

describe('the operator', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    app = await ConversationApp.start();
  });
  afterAll(() => app?.close());

  const operator = (...args: string[]): Promise<{ stdout: string }> =>
    run(process.execPath, [fileURLToPath(new URL('./main.js', import.meta.url)), ...args], {
      env: { DATABASE_URL: app.database.urls.app },
    });

  it('shuts an account by its address: signed out everywhere, keys ended, what it runs wanted paused, and the audit of each organization says so', async () => {
    const company = await Company.open(app);
    const member = await company.member('member');
    await app.owner.query(
      `INSERT INTO app.api_key (id, org_id, name, owner_kind, owner_id, scopes, hash, prefix, last4, expires_at, created_by, created_by_label)
       VALUES ('key_1', $1, 'k', 'user', $2, '{}', '\\x00', 'p', 'l', now() + interval '1 day', $2, 'm')`,
      [company.org.id, member.userId],
    );
    expect((await app.http(member, 'GET', '/api/v1/me')).status).toBe(200);
    expect((await operator('deactivate', `${member.userId.toUpperCase()}@Company.example`)).stdout).toContain(
      `deactivated ${member.userId}`,
    );
    await until('the person is out', async () => (await app.http(member, 'GET', '/api/v1/me')).status === 401);
    expect((await app.owner.query('SELECT 1 FROM app.api_key WHERE revoked_at IS NULL')).rowCount).toBe(0);
    const { rows } = await app.owner.query(
      `SELECT payload FROM app.outbox WHERE queue = 'member-removed' ORDER BY org_id`,
    );
    expect(rows.map(({ payload }) => payload)).toEqual(
      [company.org.id, member.orgId].sort().map((orgId) => ({ orgId, userId: member.userId })),
    );
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'person.deactivate',
      actor_id: 'operator',
      target: member.userId,
    });
    const listed = await app.http<{ deactivated: boolean }>(
      company.owner,
      'GET',
      company.path(`/members/${member.userId}`),
    );
    expect(listed.body.deactivated).toBe(true);
    await operator('reactivate', member.userId);
    expect((await app.owner.query('SELECT 1 FROM app.user_account WHERE deactivated_at IS NOT NULL')).rowCount).toBe(0);
  });

  it('sets the storage of one organization, which its own admin cannot, and the audit says so', async () => {
    const company = await Company.open(app);
    const { id, slug } = company.org;
    expect((await operator('storage', slug, '2GiB')).stdout).toBe(`${slug} ${id}: 0 B of 2 GiB (0 %)\n`);
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'storage.limit',
      actor_id: 'operator',
      before: { limitBytes: null },
      after: { limitBytes: 2 ** 31 },
    });
    expect((await operator('storage')).stdout).toContain(`${slug} ${id}: 0 B of 2 GiB (0 %)\n`);
    expect((await operator('storage', id, 'default')).stdout).toBe(`${slug} ${id}: 0 B of no limit, default\n`);
    await expect(operator('storage', slug, '0GiB')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is no limit'),
    });
    await expect(operator('storage', 'nobody', 'none')).rejects.toMatchObject({
      code: 1,
      stderr: 'There is no organization nobody.\n',
    });
  });

  it('prints the analytics events that wait as they will be sent, and flags with who decides them', async () => {
    const company = await Company.open(app);
    const { id, slug } = company.org;
    expect((await operator('analytics', slug)).stdout).toBe('Nothing waits to be sent.\n');
    await app.owner.query(
      `INSERT INTO app.analytics_event (id, org_id, user_id, name, at, properties) VALUES (gen_random_uuid(), $1, 'usr', 'approval_answered', now(), '{"yes": true, "seconds": 3}')`,
      [id],
    );
    const line = (await operator('analytics', slug)).stdout;
    expect(JSON.parse(line)).toMatchObject({
      event: 'approval_answered',
      properties: { yes: true, seconds: 3, $process_person_profile: false },
    });
    expect([line.includes(id), line.includes('usr')]).toEqual([false, false]);
    expect((await operator('analytics')).stdout).toBe(line);
    expect((await operator('flags')).stdout).toMatch(
      /^Provider: static\nexample-tasks: buttons, the default \(of buttons, cards; default buttons; owner web; ends \d/,
    );
  });

  it('says in a sentence what is wrong, and ends with 1', async () => {
    await expect(operator('deactivate', 'nobody@company.example')).rejects.toMatchObject({
      code: 1,
      stderr: 'There is no account nobody@company.example.\n',
    });
    await expect(operator('destroy', 'x')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Usage') });
  });
});
