import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditPage, AuditVerification } from '@slipway/contracts/audit';
import { inOrg } from '@slipway/db/sql';
import { until } from '@slipway/testing';
import { ConversationApp, type User } from '../testing/conversation-app.js';
import { type AuditRecord, auditOf } from './audit-statement.js';

const OFFLINE = fileURLToPath(new URL('../../../../docs/operate/verify-audit.mjs', import.meta.url));

interface Line extends Record<string, unknown> {
  readonly kind: string;
  readonly seq: number;
  readonly hash: string;
}

describe('the audit of an organization', () => {
  let app: ConversationApp;
  let folder: string;
  let ada: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-audit-'));
    ada = await app.user('Ada');
    for (let index = 0; index < 12; index += 1)
      await record(
        ada.orgId,
        {
          action: index % 3 === 0 ? 'api-key.create' : 'member.set-role',
          target: `t${index % 4}`,
          before: { role: 'member' },
          after: { role: 'admin' },
        },
        index % 2 === 0 ? 'usr_even' : 'usr_odd',
      );
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await app?.close();
  });

  const record = (orgId: string, what: AuditRecord, actor: string): Promise<unknown> =>
    inOrg(app.pool, orgId, (client) =>
      client.query(
        auditOf(
          randomUUID(),
          {
            orgId,
            actor: { kind: 'user', id: actor, label: 'Somebody', ...(actor === 'usr_odd' ? { viaKey: 'key_1' } : {}) },
          },
          what,
        ),
      ),
    );
  const audit = (user: User, rest = ''): string => `/api/v1/orgs/${user.orgId}/audit${rest}`;
  const list = async (query = ''): Promise<AuditPage> =>
    AuditPage.parse((await app.http(ada, 'GET', audit(ada, query))).body);
  const download = async (rest: string): Promise<{ status: number; type: string | null; body: string }> => {
    const response = await fetch(`${app.url}${audit(ada, rest)}`, { headers: { cookie: ada.cookie } });
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };
  const lines = (text: string): Line[] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  const offline = async (text: string, ...args: readonly string[]): Promise<{ code: number; out: string }> => {
    const file = path.join(folder, `${randomUUID()}.ndjson`);
    await writeFile(file, text);
    return new Promise((resolve) =>
      execFile(process.execPath, [OFFLINE, file, ...args], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
      ),
    );
  };

  it('is listed newest first with each entry’s link, and its pages have every entry once', async () => {
    const whole = await list('?limit=200');
    expect(whole.data.map(({ seq }) => seq)).toEqual(Array.from(whole.data, (_, index) => whole.data.length - index));
    expect(whole.data[0]).toMatchObject({
      action: 'member.set-role',
      target: 't3',
      actor: { id: 'usr_odd', label: 'Somebody', viaKey: 'key_1' },
      before: { role: 'member' },
      after: { role: 'admin' },
    });
    expect(whole.data.find(({ action }) => action === 'org.create')?.seq).toBe(1);
    expect(whole.data.length).toBeGreaterThan(12);
    const paged: AuditPage['data'] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: AuditPage = await list(`?limit=5${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.data);
      cursor = page.page.nextCursor;
    }
    // Entries of one millisecond stand as in the chain within a page, and an end of a page may fall between them.
    expect(paged.toSorted((one, other) => (other.seq ?? 0) - (one.seq ?? 0))).toEqual(whole.data);
    expect(paged.map(({ createdAt }) => createdAt)).toEqual(whole.data.map(({ createdAt }) => createdAt));
  });

  it('names who acted and what it was done to, as they are called now: of this organization alone', async () => {
    const [grace, elsewhere] = [await app.user('Grace'), await app.user('Eve')];
    const created = async (user: User, prompt: string): Promise<string> =>
      ((await app.http(user, 'POST', `/api/v1/orgs/${user.orgId}/conversations`, { prompt })).body as { id: string })
        .id;
    const [own, foreign] = [await created(grace, 'Mend the build'), await created(elsewhere, 'A secret plan')];
    for (const target of [`${own}:8000`, `${foreign}:8000`])
      await record(grace.orgId, { action: 'sandbox.access', target }, grace.userId);
    for (const target of [grace.userId, elsewhere.userId, 'usr_nobody'])
      await record(grace.orgId, { action: 'member.set-role', target }, 'usr_gone');
    const { names } = AuditPage.parse((await app.http(grace, 'GET', audit(grace))).body);
    expect(names).toEqual({ [own]: expect.stringContaining('Mend the build'), [grace.userId]: 'Grace' });
    await app.owner.query('INSERT INTO app.former_member (org_id, user_id) VALUES ($1, $2)', [
      grace.orgId,
      elsewhere.userId,
    ]);
    expect(AuditPage.parse((await app.http(grace, 'GET', audit(grace))).body).names).toEqual({
      ...names,
      [elsewhere.userId]: 'Eve',
    });
  });

  it('answers what is asked for: who, with which key, what, to what and when, all of it together', async () => {
    const count = async (query: string): Promise<number> => (await list(query)).data.length;
    expect(await count('?actor=usr_even')).toBe(6);
    expect(await count('?viaKey=key_1')).toBe(6);
    expect(await count('?action=api-key.create')).toBe(4);
    expect(await count('?action=member')).toBe(8);
    expect(await count('?action=api')).toBe(0);
    expect(await count('?target=t1&actor=usr_odd&action=api-key')).toBe(1);
    const { data } = await list();
    const at = data[4]?.createdAt ?? '';
    expect(await count(`?from=${at}`)).toBe(data.filter(({ createdAt }) => createdAt >= at).length);
    expect(await count(`?to=${at}`)).toBe(data.filter(({ createdAt }) => createdAt < at).length);
    expect(await count('?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59.999999Z')).toBe(data.length);
    for (const query of ['?action=Api', '?from=yesterday', '?cursor=x', '?limit=0', '?actor=', '?target=%00'])
      expect([query, (await app.http(ada, 'GET', audit(ada, query))).status]).toEqual([query, 400]);
  });

  it('is for those who may read it, and of another organization there is none', async () => {
    const [bob, admin] = [await app.user('Bob'), await app.user('Carol')];
    await app.owner.query(`UPDATE app.membership SET role = 'member' WHERE user_id = $1`, [bob.userId]);
    await until('the role is seen', async () => (await app.http(bob, 'GET', audit(bob))).status === 403);
    for (const rest of ['', '/export', '/verify']) {
      const answers = await Promise.all([
        app.http(null, 'GET', audit(ada, rest)),
        app.http(bob, 'GET', audit(bob, rest)),
        app.http(admin, 'GET', audit(ada, rest)),
        app.http(admin, 'GET', `/api/v1/orgs/org_none/audit${rest}`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([401, 403, 404, 404]);
      expect({ ...answers[2]?.body, requestId: '' }).toEqual({ ...answers[3]?.body, requestId: '' });
    }
  });

  it('is exported as lines that a script without Slipway verifies; the export is in it', async () => {
    const answer = await download('/export');
    expect([answer.status, answer.type]).toEqual([200, 'application/x-ndjson']);
    const [first, ...rest] = lines(answer.body);
    const end = rest.pop();
    expect(first).toMatchObject({
      kind: 'slipway-audit',
      org: ada.orgId,
      first: 1,
      head: { seq: rest.length, hash: rest.at(-1)?.hash },
    });
    expect(end).toEqual({ kind: 'end', count: rest.length, head: first?.['head'] });
    expect(rest.at(-1)).toMatchObject({ action: 'audit.export', target: ada.orgId, actor: { id: ada.userId } });
    const head = `${rest.length}:${rest.at(-1)?.hash}`;
    expect(await offline(answer.body)).toEqual({
      code: 0,
      out: `${rest.length} entries are as they were written. Head: ${head}\n`,
    });
    const after = await download(`/export?after=${rest.length}`);
    expect(lines(after.body).map(({ kind, seq }) => [kind, seq])).toEqual([
      ['slipway-audit', undefined],
      ['entry', rest.length + 1],
      ['end', undefined],
    ]);
    expect((await offline(after.body)).code).toBe(0);
    expect(await app.http(ada, 'GET', audit(ada, `/verify?expect=${head}`))).toMatchObject({
      status: 200,
      body: { ok: true, complete: true, fault: null },
    });
    const nothing = await download('/export?to=2001-01-01T00:00:00Z');
    expect(lines(nothing.body)).toMatchObject([
      { head: null, first: null },
      { kind: 'end', count: 0, head: null },
    ]);
  });

  it('shows in the script what was done to an export: cut, a line altered, taken out or moved, another head', async () => {
    const { body } = await download('/export');
    const all = body.trim().split('\n');
    const changed = (change: (copy: string[]) => unknown): string => {
      const copy = [...all];
      change(copy);
      return `${copy.join('\n')}\n`;
    };
    for (const [text, sentence] of [
      [changed((copy) => copy.pop()), 'The file is cut'],
      [changed((copy) => copy.splice(4, 1)), 'Entry 4 is not there'],
      [changed((copy) => copy.splice(-2, 1)), 'The file has'],
      [changed((copy) => copy.splice(4, 0, ...copy.splice(5, 1))), 'Entry 4 is not there'],
      [
        changed((copy) => copy.splice(4, 1, (copy[4] ?? '').replace('"target":"t', '"target":"x'))),
        'Entry 4 has other fields',
      ],
      [changed((copy) => copy.splice(4, 1, (copy[4] ?? '').replaceAll('Somebody', 'Nobody'))), 'Entry 4 was altered'],
    ] as const)
      expect(await offline(text)).toMatchObject({ code: 1, out: expect.stringContaining(sentence) });
    expect(await offline(body, `5:${'0'.repeat(64)}`)).toMatchObject({
      code: 1,
      out: expect.stringContaining('was cut or written anew'),
    });
  });

  it('verifies itself, and names the first bad row', async () => {
    const bob = await app.user('Bob');
    const good = AuditVerification.parse((await app.http(bob, 'GET', audit(bob, '/verify'))).body);
    expect(good).toMatchObject({ ok: true, checked: { seq: expect.any(Number) }, complete: true });
    await app.owner.query(`UPDATE app.audit_entry SET actor_id = 'usr_other' WHERE org_id = $1`, [bob.orgId]);
    expect((await app.http(bob, 'GET', audit(bob, '/verify'))).body).toMatchObject({
      ok: false,
      fault: { kind: 'entry-altered', seq: 1 },
    });
    for (const query of ['?expect=5', '?after=-1', '?after=99999999999999999999'])
      expect([query, (await app.http(bob, 'GET', audit(bob, `/verify${query}`))).status]).toEqual([query, 400]);
  });
});
