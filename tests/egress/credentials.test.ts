import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Credential } from '@slipway/contracts/credentials';
import { freePort, until } from '@slipway/testing';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { type Answered, type Origin, TestBroker } from '../../apps/credential-broker/dist/testing/test-broker.js';

const CREDENTIAL_CONTROL_SECRET = 'credential-control-of-tests-0123456789abcdef';
const HOST = 'api.example.com';
const VALUE = 'canary-value-of-a-credential';

/** A real app-server with its database, a real credential-broker that asks it, and a host with a certificate. */
describe('a brokered credential, from the API to its place', () => {
  let app: ConversationApp;
  let broker: TestBroker;
  let origin: Origin;
  let ada: User;
  let conversation: string;
  beforeAll(async () => {
    const port = await freePort();
    app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: 'egress-control-of-tests-0123456789abcdef',
        CREDENTIAL_CONTROL_SECRET,
        INTERNAL_PORT: String(port),
      },
    });
    broker = await TestBroker.start({
      CREDENTIAL_CONTROL_URL: `http://127.0.0.1:${port}`,
      CREDENTIAL_CONTROL_SECRET,
    });
    origin = await broker.origin(HOST, (request, response) =>
      response.end(request.url === '/echo' ? `you said ${request.headers.authorization}` : 'fine'),
    );
    ada = await app.user('Ada');
    conversation = (await app.conversation(ada)).id;
  });
  afterAll(async () => {
    await broker?.close();
    await app?.close();
  });

  const at = (rest = ''): string => `/api/v1/orgs/${ada.orgId}/credentials${rest}`;
  const create = async (form: object, body: object = {}): Promise<Credential> => {
    const use = { ...form, places: [{ host: HOST, port: origin.port, paths: ['/v1/**', '/echo'] }] };
    const answer = await app.http<Credential>(ada, 'POST', at(), { name: 'TOKEN', value: VALUE, use, ...body });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body;
  };
  const ask = (path: string, more: { org?: string; conversation?: string; claim?: string } = {}): Promise<Answered> =>
    broker.ask({ host: HOST, path, line: { org: ada.orgId, conversation, ...more } });
  const patch = (id: string, body: object) => app.http(ada, 'PATCH', at(`/${id}`), body);
  /** What the place was sent by a request that passed. */
  const sent = async (): Promise<string | undefined> => {
    const { status } = await ask('/v1/things');
    return status === 200 ? origin.seen.at(-1)?.headers.authorization : undefined;
  };

  it('is put into requests to its place, for its organization’s conversations alone, with one entry in the audit', async () => {
    const { id } = await create({ form: 'bearer' });
    expect(await sent()).toBe(`Bearer ${VALUE}`);
    expect(await sent()).toBe(`Bearer ${VALUE}`);
    expect((await ask('/v2/things')).status).toBe(403);
    const bob = await app.user('Bob');
    const theirs = (await app.conversation(bob)).id;
    const before = origin.seen.length;
    for (const other of [{ org: bob.orgId, conversation: theirs }, { conversation: theirs }, { org: bob.orgId }])
      expect((await ask('/v1/things', other)).status).toBe(403);
    expect(origin.seen.length).toBe(before);
    const { rows } = await app.owner.query(
      "SELECT detail FROM app.audit_entry WHERE action = 'credential.use' AND target = $1",
      [id],
    );
    expect(rows).toEqual([{ detail: { name: 'TOKEN', claim: 'clm_1', conversation, host: HOST } }]);
  });

  it('is another for the next request when it was changed, and none when it was deleted', async () => {
    const { data } = (await app.http<{ data: Credential[] }>(ada, 'GET', at())).body;
    const id = data[0]?.id ?? '';
    expect((await patch(id, { value: 'a new value of it' })).status).toBe(200);
    await until('the new value is sent', async () => (await sent()) === 'Bearer a new value of it');
    expect((await app.http(ada, 'DELETE', at(`/${id}`))).status).toBe(204);
    await until('none is sent', async () => (await sent()) === undefined);
  });

  it('rests when its place sends it back, which the sandbox does not see, until an admin says so', async () => {
    const { id } = await create({ form: 'bearer' });
    await until('it is used', async () => (await sent()) === `Bearer ${VALUE}`);
    const echoed = await ask('/echo');
    expect(echoed.text).not.toContain(VALUE);
    const state = async () => (await app.http<Credential>(ada, 'GET', at(`/${id}`))).body.state;
    await until('it is resting', async () => (await state()) === 'resting');
    await until('it is refused', async () => (await ask('/v1/things')).code === 'credential.resting');
    expect((await patch(id, { state: 'active', value: 'a value that nobody saw' })).status).toBe(200);
    await until('it is used again', async () => (await sent()) === 'Bearer a value that nobody saw');
  });
});
