import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { LinkBegun } from '@slipway/contracts/identity';
import type { User } from '../../testing/conversation-app.js';
import {
  app,
  audit,
  callbacks,
  comeBack,
  confirm,
  connectionId,
  consent,
  join,
  list,
  mia,
  olga,
  provider,
  setUpLinking,
} from './test-linking.js';

const SHA = 'a'.repeat(40);
const REVIEWS = '/api/v1/repos/acme/shop/pulls/7/reviews';

setUpLinking();

describe('an approval at the git host', () => {
  let conversation: string;
  beforeAll(async () => {
    await confirm(mia, await consent(mia, { id: 71, login: 'mia' }));
    await confirm(olga, await consent(olga, { id: 72, login: 'olga' }));
  });
  beforeEach(async () => {
    await app.owner.query(`UPDATE app.org SET settings = settings || '{"fourEyes": false}' WHERE id = $1`, [
      olga.orgId,
    ]);
    conversation = (await app.conversation(olga)).id;
    await app.owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, connection_id, provider, host, repository, number, title, draft, wanted, head_sha, state)
       VALUES ($1, $2, $3, $4, 'gitea', $5, 'acme/shop', 7, 'Fix', false, $6, $7, 'open')`,
      [
        randomUUID(),
        olga.orgId,
        conversation,
        connectionId,
        provider.host,
        '{"draft":false,"at":"2026-11-29T00:00:00Z"}',
        SHA,
      ],
    );
    provider.requests.length = 0;
  });

  const begin = async (user: User, headSha = SHA, number = 7) => {
    const at = `/api/v1/orgs/${olga.orgId}/conversations/${conversation}/pull-requests/${number}/approve`;
    const answer = await app.http<LinkBegun & { code?: string }>(user, 'POST', at, { headSha });
    if (answer.status === 201) {
      const asked = new URL(answer.body.authorizeUrl).searchParams;
      callbacks.set(asked.get('state') ?? '', asked.get('redirect_uri') ?? '');
    }
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return { status: answer.status, code: answer.body.code, url: answer.body.authorizeUrl, cookie };
  };
  /** Consents as an account. @returns the query of the page that the browser is led to. */
  const approve = async (user: User, account: object): Promise<string> => {
    const { url, cookie } = await begin(user);
    const back = await comeBack(user, provider.consent(url, account), cookie, 'text/html');
    const to = new URL(back.headers.get('location') ?? '');
    expect([back.status, to.pathname.endsWith(`/conversations/${conversation}/review`)]).toEqual([302, true]);
    return to.search;
  };
  const reviews = () => provider.requests.filter((request) => request === `POST ${REVIEWS}`).length;
  const approvals = async () =>
    (await audit(conversation)).filter((row) => (row as { action: string }).action === 'pull-request.approve');

  it('is made as the user, at the commit that they saw, with a token of that one consent, and is in the audit', async () => {
    const { url, cookie } = await begin(mia);
    expect(new URL(url).searchParams.get('scope')).toBe('read:user write:repository');
    const consented = provider.consent(url, { id: 71, login: 'mia' });
    const back = await comeBack(mia, consented, cookie, 'text/html');
    expect(new URL(back.headers.get('location') ?? '').search).toBe('?approved=7');
    expect(reviews()).toBe(1);
    expect(await approvals()).toMatchObject([
      { actor_id: mia.userId, detail: { repository: `${provider.host}/acme/shop`, number: 7, sha: SHA } },
    ]);
    // The state is used up: what is pressed or sent again does nothing.
    expect((await comeBack(mia, consented, cookie)).status).toBe(400);
    expect(reviews()).toBe(1);
    expect((await list(mia)).data.filter(({ state }) => state === 'pending')).toEqual([]);
  });

  it('adversary: is not made with the consent of an account that is not the user’s own here', async () => {
    expect(await approve(mia, { id: 72, login: 'olga' })).toBe('?problem=pull-request.not-linked');
    expect([reviews(), await approvals()]).toEqual([0, []]);
  });

  it('adversary: is not begun from another browser, for another commit, an ended request, another tenant’s or by who may not', async () => {
    expect(await begin(mia, 'b'.repeat(40))).toMatchObject({ status: 409, code: 'pull-request.moved' });
    expect(await begin(mia, SHA, 8)).toMatchObject({ status: 404 });
    expect(await begin(await app.user('Eve'))).toMatchObject({ status: 404 });
    const viewer = await app.user('Vic');
    await join(viewer);
    await app.owner.query(`UPDATE app.membership SET role = 'viewer' WHERE org_id = $1 AND user_id = $2`, [
      olga.orgId,
      viewer.userId,
    ]);
    expect(await begin(viewer)).toMatchObject({ status: 403, code: 'permission.denied' });
    const unlinked = await app.user('Uma');
    await join(unlinked);
    expect(await begin(unlinked)).toMatchObject({ status: 403, code: 'pull-request.not-linked' });
    for (const [user, keeps] of [
      [olga, true],
      [mia, false],
    ] as const) {
      const { url, cookie } = await begin(mia);
      const back = await comeBack(user, provider.consent(url, { id: 71, login: 'mia' }), keeps ? cookie : '');
      expect([back.status, ((await back.json()) as { code: string }).code]).toEqual([400, 'linked-account.refused']);
    }
    await app.owner.query(`UPDATE app.pull_request SET state = 'merged' WHERE conversation_id = $1`, [conversation]);
    expect(await begin(mia)).toMatchObject({ status: 409, code: 'pull-request.ended' });
    expect(reviews()).toBe(0);
  });

  it('adversary: under four eyes is not of who has asked the agent, also where the rule came after it was begun', async () => {
    const { url, cookie } = await begin(olga);
    await app.owner.query(`UPDATE app.org SET settings = settings || '{"fourEyes": true}' WHERE id = $1`, [olga.orgId]);
    const back = await comeBack(olga, provider.consent(url, { id: 72, login: 'olga' }), cookie, 'text/html');
    expect(new URL(back.headers.get('location') ?? '').search).toBe('?problem=conversation.four-eyes');
    expect(await begin(olga)).toMatchObject({ status: 403, code: 'conversation.four-eyes' });
    expect([reviews(), await approvals()]).toEqual([0, []]);
    expect(await approve(mia, { id: 71, login: 'mia' })).toBe('?approved=7');
    expect(reviews()).toBe(1);
  });

  it('says in words that nobody approves their own, what moved meanwhile, and what the host refuses', async () => {
    const answers = [
      [422, 'approve your own pull is not allowed', 'pull-request.own'],
      [409, 'SHA does not match HEAD of source branch', 'pull-request.moved'],
      [403, 'token does not have at least one of required scope(s)', 'pull-request.consent-narrow'],
      [404, 'Not Found', 'integration.provider-refused'],
    ] as const;
    for (const [status, message, code] of answers) {
      provider.broken.set(REVIEWS, (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
      });
      expect(await approve(mia, { id: 71, login: 'mia' })).toBe(`?problem=${code}`);
    }
    const { url, cookie } = await begin(mia);
    const state = new URL(url).searchParams.get('state') ?? '';
    const back = await comeBack(mia, { state, error: 'access_denied' }, cookie, 'text/html');
    expect(new URL(back.headers.get('location') ?? '').search).toBe('?problem=linked-account.declined');
  });
});
