import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { analyticsPseudonym } from '@slipway/analytics';
import { WaitingEvents } from '@slipway/contracts/operate';
import { Me } from '@slipway/contracts/organizations';
import { until } from '@slipway/testing';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const SECRET = 'a-secret-for-pseudonyms-of-at-least-32-characters';
const ALLOWED = {
  POSTHOG_HOST: 'https://posthog.example',
  ANALYTICS_SECRET: SECRET,
  FLAGS: '{"example-tasks": "cards"}',
};

describe('POST /api/v1/analytics/events', () => {
  let app: ConversationApp;
  let ada: User;
  let eve: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ env: ALLOWED });
    [ada, eve] = [await app.user(), await app.user()];
  });
  afterAll(() => app?.close());
  beforeEach(() => app.owner.query('TRUNCATE app.analytics_event, app.flag_exposure'));

  const post = async (user: User | null, body: object, headers: Record<string, string> = {}): Promise<number> =>
    (await app.http(user, 'POST', '/api/v1/analytics/events', body, headers)).status;
  const clicked = (organization: string, id: string = randomUUID()) => ({
    id,
    organization,
    event: { name: 'download_trajectory_button_clicked' },
  });
  const exposed = (organization: string) => ({
    id: randomUUID(),
    organization,
    event: { name: 'experiment_exposed', flag: 'example-tasks' },
  });
  const waiting = async (): Promise<string[]> =>
    (await app.owner.query<{ name: string }>('SELECT name FROM app.analytics_event ORDER BY made_at')).rows.map(
      ({ name }) => name,
    );
  const allowOrg = async (user: User, analytics: boolean): Promise<void> => {
    expect((await app.http(user, 'PATCH', `/api/v1/orgs/${user.orgId}/settings`, { analytics })).status).toBe(200);
  };
  const allowUser = async (user: User, analytics: boolean): Promise<void> => {
    expect((await app.http(user, 'PATCH', '/api/v1/me/settings', { analytics })).body).toMatchObject({ analytics });
  };
  const allow = async (user: User): Promise<void> => {
    await allowOrg(user, true);
    await allowUser(user, true);
  };

  it('answers 204 whatever is allowed, and keeps an event once only where the organization and the user allow it', async () => {
    const id = randomUUID();
    expect([await post(ada, clicked(ada.orgId)), await waiting()]).toEqual([204, []]);
    await allowOrg(ada, true);
    expect([await post(ada, clicked(ada.orgId)), await waiting()]).toEqual([204, []]);
    await allowUser(ada, true);
    for (let times = 0; times < 3; times += 1) expect(await post(ada, clicked(ada.orgId, id))).toBe(204);
    expect(await waiting()).toEqual(['download_trajectory_button_clicked']);
    expect([
      await post(eve, clicked(ada.orgId)),
      await post(ada, clicked('org_missing')),
      (await waiting()).length,
    ]).toEqual([204, 204, 1]);
  });

  it('keeps nothing of a browser that asks not to be tracked', async () => {
    const guest = await app.user();
    await allow(guest);
    for (const headers of [{ 'sec-gpc': '1' }, { dnt: '1' }] as Array<Record<string, string>>)
      expect(await post(guest, clicked(guest.orgId), headers)).toBe(204);
    expect(await waiting()).toEqual([]);
    const other = await app.user();
    await app.http(other, 'GET', '/api/v1/me', undefined, { 'sec-gpc': '1' });
    await until(
      'the session has it',
      async () =>
        (await app.owner.query('SELECT 1 FROM app.session WHERE user_id = $1 AND refuses_tracking', [other.userId]))
          .rowCount === 1,
      20_000,
    );
    await allow(other);
    expect([await post(other, clicked(other.orgId)), await waiting()]).toEqual([204, []]);
    await app.http(other, 'GET', '/api/v1/me');
    await until(
      'a silent browser lets it through',
      async () => {
        await post(other, clicked(other.orgId));
        return (await waiting()).length > 0;
      },
      20_000,
    );
  });

  it('takes what the catalogue has and nothing else, from a signed-in user of this page', async () => {
    const id = randomUUID();
    const bad = [
      { id, organization: ada.orgId, event: { name: 'user_signed_up', idp: 'direct' } },
      { id, organization: ada.orgId, event: { name: 'download_trajectory_button_clicked', title: 'My plans' } },
      { id, organization: ada.orgId, event: { name: 'experiment_exposed', flag: 'example-tasks', variant: 'buttons' } },
      { id, organization: ada.orgId, event: { name: 'experiment_exposed', flag: 'no-such-flag' } },
      { id: 'x', organization: ada.orgId, event: { name: 'download_trajectory_button_clicked' } },
      { ...clicked(ada.orgId), url: 'https://here' },
    ];
    expect(await Promise.all(bad.map((body) => post(ada, body)))).toEqual(bad.map(() => 400));
    expect(await post(null, clicked(ada.orgId))).toBe(401);
    expect(await post(ada, clicked(ada.orgId), { origin: 'https://elsewhere.example' })).toBe(403);
    expect(await waiting()).toEqual([]);
  });

  it('counts an exposure to a flag once for a user and a value, the server’s own, and not one that was not allowed', async () => {
    await allow(ada);
    await allowUser(ada, false);
    await post(ada, exposed(ada.orgId));
    expect([await waiting(), (await app.owner.query('SELECT 1 FROM app.flag_exposure')).rowCount]).toEqual([[], 0]);
    await allowUser(ada, true);
    for (let times = 0; times < 3; times += 1) await post(ada, exposed(ada.orgId));
    const { rows } = await app.owner.query<{ properties: object }>('SELECT properties FROM app.analytics_event');
    expect(rows).toEqual([{ properties: { flag: 'example-tasks', variant: 'cards' } }]);
    await app.owner.query('DELETE FROM app.analytics_event');
    await post(ada, exposed(ada.orgId));
    expect(await waiting()).toEqual([]);
  });

  it('forgets what waits with the consent of the user and with that of the organization, which the audit has', async () => {
    for (const withdraw of [() => allowUser(ada, false), () => allowOrg(ada, false)]) {
      await allow(ada);
      await allow(eve);
      await post(ada, clicked(ada.orgId));
      await post(eve, clicked(eve.orgId));
      expect((await waiting()).length).toBe(2);
      await withdraw();
      expect((await app.owner.query('SELECT user_id FROM app.analytics_event')).rows).toEqual([
        { user_id: eve.userId },
      ]);
      await app.owner.query('TRUNCATE app.analytics_event');
    }
    const { rows } = await app.owner.query(
      `SELECT before, after FROM app.audit_entry WHERE org_id = $1 AND action = 'setting.update' ORDER BY created_at DESC LIMIT 1`,
      [ada.orgId],
    );
    expect(rows).toEqual([{ before: { analytics: true }, after: { analytics: false } }]);
  });

  it('shows an admin what waits as it will be sent: pseudonyms, and no id of ours', async () => {
    await allow(ada);
    await post(ada, clicked(ada.orgId));
    const { status, body } = await app.http(ada, 'GET', `/api/v1/orgs/${ada.orgId}/analytics/waiting`);
    expect([status, WaitingEvents.parse(body)]).toEqual([
      200,
      {
        host: 'https://posthog.example',
        total: 1,
        data: [
          expect.objectContaining({
            name: 'download_trajectory_button_clicked',
            user: analyticsPseudonym(SECRET, 'user', ada.userId),
            organization: analyticsPseudonym(SECRET, 'organization', ada.orgId),
            properties: { $process_person_profile: false },
          }),
        ],
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(ada.userId);
    expect((await app.http(eve, 'GET', `/api/v1/orgs/${ada.orgId}/analytics/waiting`)).status).toBe(404);
  });

  it('GET /api/v1/me says where events go and gives the flags of each organization', async () => {
    const me = Me.parse((await app.http(ada, 'GET', '/api/v1/me')).body);
    expect([me.analytics, me.flags]).toEqual([
      { host: 'posthog.example' },
      { [ada.orgId]: { 'example-tasks': 'cards' } },
    ]);
  });
});

describe('an installation without analytics', () => {
  for (const [name, env] of [
    ['that has none configured', {}],
    ['whose operator says DO_NOT_TRACK', { ...ALLOWED, DO_NOT_TRACK: '1' }],
  ] as const)
    it(`${name} keeps nothing of the page, and says so`, async () => {
      const app = await ConversationApp.start({ env });
      try {
        const ada = await app.user();
        await app.http(ada, 'PATCH', `/api/v1/orgs/${ada.orgId}/settings`, { analytics: true });
        await app.http(ada, 'PATCH', '/api/v1/me/settings', { analytics: true });
        const body = {
          id: randomUUID(),
          organization: ada.orgId,
          event: { name: 'download_trajectory_button_clicked' },
        };
        expect((await app.http(ada, 'POST', '/api/v1/analytics/events', body)).status).toBe(204);
        expect((await app.owner.query('SELECT 1 FROM app.analytics_event')).rowCount).toBe(0);
        expect(Me.parse((await app.http(ada, 'GET', '/api/v1/me')).body).analytics).toEqual({ host: null });
      } finally {
        await app.close();
      }
    });
});
