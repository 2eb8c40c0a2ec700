import { describe, expect, it, jest } from '@jest/globals';
import {
  actor,
  app,
  begin,
  codeOf,
  comeBack,
  confirm,
  confirmOf,
  connect,
  consent,
  enterClient,
  join,
  linked,
  list,
  MINE,
  mia,
  olga,
  provider,
  setUpLinking,
} from './test-linking.js';

jest.setTimeout(120_000);

describe('linking of accounts: adversary', () => {
  setUpLinking();

  const refused = [400, 'linked-account.refused'];

  it('who begins a link and has a victim finish it links nothing to the victim', async () => {
    const begun = await begin(olga);
    const back = provider.consent(begun.authorizeUrl, { id: 66, login: 'mallory' });
    expect(await codeOf(await comeBack(mia, back, ''))).toEqual(refused);
    const again = await begin(olga);
    // Even where the attacker could plant the cookie as well.
    expect(
      await codeOf(
        await comeBack(mia, provider.consent(again.authorizeUrl, { id: 66, login: 'mallory' }), again.cookie),
      ),
    ).toEqual(refused);
    expect([(await list(mia)).data, (await list(olga)).data]).toEqual([[], []]);
  });

  it('who takes over what a victim has begun links nothing to themselves', async () => {
    const begun = await begin(mia);
    const back = provider.consent(begun.authorizeUrl, { id: 7, login: 'victim' });
    expect(await codeOf(await comeBack(olga, back, begun.cookie))).toEqual(refused);
    expect(await codeOf(await comeBack(null, back, begun.cookie))).toEqual([401, 'auth.missing']);
    // The state is used up by the attempt.
    expect(await codeOf(await comeBack(mia, back, begun.cookie))).toEqual(refused);
  });

  it('who knows the state and has the session cookie’s user in another browser is refused without this browser’s cookie', async () => {
    const begun = await begin(mia);
    const other = await begin(mia);
    const wrong = other.cookie.replace(/^[^=]*/, begun.cookie.split('=')[0] ?? '');
    expect(
      await codeOf(await comeBack(mia, provider.consent(begun.authorizeUrl, { id: 7, login: 'x' }), wrong)),
    ).toEqual(refused);
    expect(await codeOf(await comeBack(mia, provider.consent(other.authorizeUrl, { id: 7, login: 'x' }), ''))).toEqual(
      refused,
    );
  });

  it('who replays or forges a state, or brings one that is over, is refused before the provider is asked', async () => {
    const begun = await begin(mia);
    const back = provider.consent(begun.authorizeUrl, { id: 7, login: 'octo' });
    confirmOf(await comeBack(mia, back, begun.cookie));
    const asked = provider.requests.length;
    for (const state of [back.state, 'forged', '', 'x'.repeat(5_000)])
      expect(await codeOf(await comeBack(mia, { ...back, state }, begun.cookie))).toEqual(refused);
    const late = await begin(mia);
    await app.owner.query(
      `UPDATE app.link_request SET expires_at = now() - interval '1 second' WHERE taken_at IS NULL`,
    );
    expect(
      await codeOf(await comeBack(mia, provider.consent(late.authorizeUrl, { id: 7, login: 'octo' }), late.cookie)),
    ).toEqual(refused);
    expect(provider.requests.length).toBe(asked);
  });

  it('who has another session of the same user neither sees nor confirms what waits in this one', async () => {
    const id = await consent(mia, { id: 7, login: 'octo' });
    expect((await confirm(olga, id)).status).toBe(404);
    await app.owner.query('UPDATE app.link_request SET session_id = $2 WHERE id = $1', [id, 'ses_another']);
    expect((await list(mia)).data.map((each) => each.id)).not.toContain(id);
    expect((await confirm(mia, id)).status).toBe(404);
  });

  it('who lets a confirmation lie finds it gone after ten minutes', async () => {
    const id = await consent(mia, { id: 7, login: 'octo' });
    await app.owner.query(`UPDATE app.link_request SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
    expect((await confirm(mia, id)).status).toBe(404);
  });

  it('whose account another user has linked gets a conflict, at the same moment too, and the login alone is not asked', async () => {
    const first = await consent(mia, { id: 70, login: 'octo' });
    const second = await consent(olga, { id: 70, login: 'octo-renamed' });
    const answers = await Promise.all([confirm(mia, first), confirm(olga, second)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('linked-account.taken');
    const [winner, loser] = answers[0]?.status === 200 ? [mia, olga] : [olga, mia];
    expect(await actor(olga.orgId, '70')).toBe(winner.userId);
    const same = await consent(loser, { id: 71, login: 'octo' });
    expect((await confirm(loser, same)).status).toBe(200);
    const another = await consent(winner, { id: 72, login: 'second' });
    expect(await confirm(winner, another)).toMatchObject({ status: 409, body: { code: 'linked-account.exists' } });
    for (const user of [mia, olga])
      for (const { id } of (await list(user)).data)
        expect((await app.http(user, 'DELETE', `${MINE}/${id}`)).status).toBe(204);
  });

  it('who is admin elsewhere and runs a host of the same name has no rights here', async () => {
    const eve = await app.user('Eve');
    const theirs = await connect('gitea', eve);
    await enterClient(theirs, eve);
    const begun = await begin(eve, theirs, eve.orgId);
    const id = confirmOf(
      await comeBack(eve, provider.consent(begun.authorizeUrl, { id: 7, login: 'victim' }), begun.cookie),
    );
    expect((await confirm(eve, id)).status).toBe(200);
    await join(eve);
    expect([await actor(eve.orgId, '7'), await actor(olga.orgId, '7')]).toEqual([eve.userId, undefined]);
    expect((await confirm(mia, await consent(mia, { id: 7, login: 'victim' }))).status).toBe(200);
    expect(await actor(olga.orgId, '7')).toBe(mia.userId);
    for (const link of (await list(mia)).data) await app.http(mia, 'DELETE', `${MINE}/${link.id}`);
  });

  it('who confirms by a link in a mail of another site is refused', async () => {
    const id = await consent(mia, { id: 7, login: 'octo' });
    const answer = await app.http(mia, 'POST', `${MINE}/${id}/confirm`, undefined, {
      origin: 'https://evil.example',
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'request.cross-site' } });
    expect(await linked(mia)).toEqual([]);
  });
});
