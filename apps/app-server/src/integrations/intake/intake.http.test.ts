import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionWithSecret, IntegrationConnection } from '@slipway/contracts/integrations';
import { exampleDelivery, exampleProvider, signedHeaders } from '@slipway/integrations/testing';
import { until } from '@slipway/testing';
import { featuresWith } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const APP_SECRET = 'the-secret-of-the-platform-app';

describe('intake of deliveries', () => {
  let app: ConversationApp;
  let owner: User;
  beforeAll(async () => {
    app = await ConversationApp.start({
      features: featuresWith([exampleProvider, { ...exampleProvider, id: 'other', form: false, maxBytes: 64 * 1024 }]),
      env: {
        INTEGRATION_APP_SECRETS: JSON.stringify({ example: [APP_SECRET, 'the-one-before-that-of-the-app'] }),
        RATE_DELIVERIES_PER_MINUTE: '400',
      },
    });
    owner = await app.user('Olga');
  });
  afterAll(() => app?.close());

  interface Connected {
    readonly id: string;
    readonly url: string;
    readonly secret: string;
  }
  const connected = async (body: object = {}, by = owner): Promise<Connected> => {
    const answer = await app.http<ConnectionWithSecret>(
      by,
      'POST',
      `/api/v1/orgs/${by.orgId}/integrations/connections`,
      {
        provider: 'example',
        name: 'A connection',
        ...body,
      },
    );
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    const { connection, webhookSecret } = answer.body;
    return { id: connection.id, url: connection.address ?? '', secret: webhookSecret ?? '' };
  };
  const post = async (
    url: string,
    delivery: { body: string | Buffer<ArrayBuffer>; headers: Record<string, string> },
  ): Promise<{ status: number; text: string; ms: number }> => {
    const began = performance.now();
    const response = await fetch(url, { method: 'POST', ...delivery, signal: AbortSignal.timeout(20_000) });
    const text = await response.text();
    return { status: response.status, text: text.replace(/"requestId":"[^"]*"/, ''), ms: performance.now() - began };
  };
  const rows = async (
    connection: string,
  ): Promise<Array<{ id: string; delivery_id: string; event: string; state: string; sealed: Buffer }>> =>
    (
      await app.owner.query(
        'SELECT id, delivery_id, event, state, sealed FROM app.integration_delivery WHERE connection_id = $1 ORDER BY id',
        [connection],
      )
    ).rows;
  const jobs = async (connection: string): Promise<number> =>
    (
      await app.owner.query(
        `SELECT 1 FROM app.outbox o JOIN app.integration_delivery d ON d.id = o.key WHERE o.queue = 'integration-delivery' AND d.connection_id = $1`,
        [connection],
      )
    ).rowCount ?? 0;

  it('keeps one that holds, sealed and without its credentials, wants its job, and answers with nothing', async () => {
    const { id, url, secret } = await connected();
    const delivery = exampleDelivery(secret, { text: 'canary-of-a-delivery' }, 'first');
    const answer = await post(url, {
      ...delivery,
      headers: { ...delivery.headers, authorization: 'Bearer canary-credential', 'x-api-key': 'canary-credential' },
    });
    expect(answer).toMatchObject({ status: 200, text: '' });
    const [row] = await rows(id);
    expect(row).toMatchObject({ delivery_id: 'first', event: 'deed.done', state: 'received' });
    expect(row?.sealed.toString('latin1')).not.toContain('canary');
    expect(await jobs(id)).toBe(1);
    const shown = await app.http<{ body: string; headers: object }>(
      owner,
      'GET',
      `/api/v1/orgs/${owner.orgId}/integrations/connections/${id}/deliveries/${row?.id}`,
    );
    expect(shown.body.body).toBe(delivery.body);
    expect(Object.keys(shown.body.headers)).toEqual(expect.arrayContaining(['x-example-event', 'x-example-delivery']));
    expect(JSON.stringify(shown.body.headers)).not.toContain('canary-credential');
    expect(Object.keys(shown.body.headers)).not.toContain('x-example-signature');
    const { body } = await app.http<IntegrationConnection>(
      owner,
      'GET',
      `/api/v1/orgs/${owner.orgId}/integrations/connections/${id}`,
    );
    expect(body).toMatchObject({ state: 'active', verifiedAt: expect.any(String), lastDeliveryAt: expect.any(String) });
  });

  describe('from an attacker', () => {
    it('with a wrong, missing, doubled, downgraded or foreign signature keeps nothing and learns nothing', async () => {
      const { id, url, secret } = await connected();
      const other = await connected();
      const body = '{"text":"x"}';
      const good = signedHeaders(secret, body);
      const { 'x-example-signature': signature = '', ...unsigned } = good;
      const wrong: Record<string, string>[] = [
        unsigned,
        { ...unsigned, 'x-example-signature': '' },
        { ...unsigned, 'x-example-signature': `sha256=${'0'.repeat(64)}` },
        { ...unsigned, 'x-example-signature': signature.slice(0, -2) },
        { ...unsigned, 'x-example-signature': `${signature}, ${signature}` },
        { ...unsigned, 'x-example-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}` },
        // Schemes that the provider has and the connection does not require.
        { ...unsigned, 'x-example-token': secret },
        { ...unsigned, 'x-hub-signature-256': signature },
        signedHeaders(other.secret, body),
        signedHeaders(`${secret} `, body),
      ];
      const answers = await Promise.all(wrong.map((headers) => post(url, { body, headers })));
      expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 401));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const [status] = await doubled(url, body, good, signature);
      expect(status).toBe(401);
      // And the bytes are what is signed: the same JSON with one more blank is another delivery.
      for (const changed of ['{"text": "x"}', '{"text":"x"}\n', '\ufeff{"text":"x"}'])
        expect((await post(url, { body: changed, headers: good })).status).toBe(401);
      expect(await rows(id)).toEqual([]);
      expect((await post(url, { body, headers: good })).status).toBe(200);
    });

    it('to a connection that there is not is answered as a bad signature is: in words and in time', async () => {
      const { url } = await connected();
      const body = JSON.stringify({ text: 'x'.repeat(10_000) });
      const missing = url.replace(/[^/]+$/, randomUUID());
      const times: Record<'there' | 'missing', number[]> = { there: [], missing: [] };
      for (let round = 0; round < 15; round += 1) {
        const [there, not] = [
          await post(url, { body, headers: signedHeaders('nobody', body) }),
          await post(missing, { body, headers: signedHeaders('nobody', body) }),
        ];
        expect(not.status).toBe(401);
        expect(not.text).toBe(there.text);
        times.there.push(there.ms);
        times.missing.push(not.ms);
      }
      const median = (of: number[]): number => [...of].sort((a, b) => a - b)[7] ?? 0;
      // Both wait for the next 25 ms: a busy machine may miss one of them.
      expect(Math.abs(median(times.there) - median(times.missing))).toBeLessThan(25);
      expect(Math.min(...times.there, ...times.missing)).toBeGreaterThan(20);
      for (const strange of ['x', '..%2f..', "' OR 1=1", '%00'])
        expect(
          (await post(url.replace(/[^/]+$/, strange), { body, headers: signedHeaders('nobody', body) })).status,
        ).toBe(401);
      expect(
        (await post(url.replace('/example/', '/other/'), { body, headers: signedHeaders('nobody', body) })).text,
      ).toBe((await post(missing, { body, headers: { ...signedHeaders('nobody', body) } })).text);
    });

    it('who speaks for another tenant in the body speaks for the address alone', async () => {
      const victim = await connected({ account: 'acme' }, await app.user('Vera'));
      const { id, url, secret } = await connected({ account: 'mallory' });
      expect((await post(url, exampleDelivery(secret, { account: 'acme' }))).status).toBe(200);
      expect(await rows(victim.id)).toEqual([]);
      expect(await rows(id)).toHaveLength(1);
    });

    it('with a body over the cap is refused before it is read, and while it is', async () => {
      const { id, url, secret } = await connected({ provider: 'other', host: 'example.test' });
      const cap = 64 * 1024;
      const fits = JSON.stringify({ text: 'x'.repeat(cap - 11) });
      expect(fits).toHaveLength(cap);
      expect((await post(url, { body: fits, headers: signedHeaders(secret, fits) })).status).toBe(200);
      const declared = await rawly(url, [
        `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 26214400\r\n\r\n`,
      ]);
      expect(declared).toMatch(/^HTTP\/1\.1 413/);
      const piece = `${(16 * 1024).toString(16)}\r\n${'x'.repeat(16 * 1024)}\r\n`;
      const streamed = await rawly(url, [
        `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
        ...Array.from({ length: 8 }, () => piece),
      ]);
      expect(streamed).toMatch(/^HTTP\/1\.1 413/);
      expect(await rows(id)).toHaveLength(1);
    });

    it('with another type, an encoding or none is refused', async () => {
      const { url, secret } = await connected();
      const body = '{}';
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonp', ''])
        expect([
          type,
          (await post(url, { body, headers: { ...signedHeaders(secret, body), 'content-type': type } })).status,
        ]).toEqual([type, 415]);
      expect(
        (await post(url, { body, headers: { ...signedHeaders(secret, body), 'content-encoding': 'gzip' } })).status,
      ).toBe(415);
      const strict = await connected({ provider: 'other', host: 'example.test' });
      const form = `payload=${encodeURIComponent('{}')}`;
      const headers = { ...signedHeaders(strict.secret, form), 'content-type': 'application/x-www-form-urlencoded' };
      expect((await post(strict.url, { body: form, headers })).status).toBe(415);
      expect(
        (await post(`${app.url}/api/integration/nothing/events`, { body, headers: signedHeaders(secret, body) }))
          .status,
      ).toBe(404);
    });

    it('who replays a delivery a hundred times is answered 200 and has changed nothing', async () => {
      const { id, url, secret } = await connected();
      const delivery = exampleDelivery(secret, { text: 'again' });
      const answers = await Promise.all(Array.from({ length: 100 }, () => post(url, delivery)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await rows(id)).toHaveLength(1);
      expect(await jobs(id)).toBe(1);
    });

    it('with a signed time of long ago or of the future is refused, wherever the time stands', async () => {
      const stamped = await connected({ kind: 'stamped' });
      for (const [offset, status] of [
        [0, 200],
        [-70_000, 401],
        [70_000, 401],
      ] as const) {
        const body = JSON.stringify({ stamp: Date.now() + offset });
        const headers = {
          ...signedHeaders(stamped.secret, body),
          'x-example-signature': createHmac('sha256', stamped.secret).update(body).digest('hex'),
        };
        expect([offset, (await post(stamped.url, { body, headers })).status]).toEqual([offset, status]);
      }
    });
  });

  it('takes the old secret beside the new one for a day, the old scheme never, and a secret of three rotations ago not at all', async () => {
    const { id, url, secret } = await connected();
    const rotate = async (): Promise<ConnectionWithSecret> =>
      (
        await app.http<ConnectionWithSecret>(
          owner,
          'POST',
          `/api/v1/orgs/${owner.orgId}/integrations/connections/${id}/rotate-secret`,
          {},
        )
      ).body;
    const next = await rotate();
    expect(next.connection.oldSecretUntil).toEqual(expect.any(String));
    const holds = async (by: string): Promise<number> => (await post(url, exampleDelivery(by, {}))).status;
    await until('the new secret to hold', async () => ((await holds(next.webhookSecret ?? '')) === 200 ? true : null));
    expect(await holds(secret)).toBe(200);
    const third = await rotate();
    await until('the first secret to hold no more', async () => ((await holds(secret)) === 401 ? true : null));
    expect(await holds(next.webhookSecret ?? '')).toBe(200);
    await app.owner.query(
      `UPDATE app.integration_secret SET valid_until = now() - interval '1 second' WHERE connection_id = $1 AND valid_until IS NOT NULL`,
      [id],
    );
    await until('the old secret to hold no more', async () =>
      (await holds(next.webhookSecret ?? '')) === 401 ? true : null,
    );
    expect(await holds(third.webhookSecret ?? '')).toBe(200);
    expect((await app.http(owner, 'DELETE', `/api/v1/orgs/${owner.orgId}/integrations/connections/${id}`)).status).toBe(
      204,
    );
    await until('the address to be unknown', async () =>
      (await holds(third.webhookSecret ?? '')) === 401 ? true : null,
    );
  });

  it('answers a challenge after it verified it, also of a connection that is being set up', async () => {
    const { id, url, secret } = await connected();
    const body = '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}';
    expect((await post(url, { body, headers: signedHeaders('nobody', body) })).status).toBe(401);
    expect(await post(url, { body, headers: signedHeaders(secret, body) })).toMatchObject({
      status: 200,
      text: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    });
    expect(await rows(id)).toEqual([]);
    const { body: connection } = await app.http<IntegrationConnection>(
      owner,
      'GET',
      `/api/v1/orgs/${owner.orgId}/integrations/connections/${id}`,
    );
    expect(connection.state).toBe('active');
  });

  it('takes a form with one field, bytes that are no UTF-8 and what is no JSON: signed is signed', async () => {
    const { id, url, secret } = await connected();
    const form = `payload=${encodeURIComponent('{"text":"ä"}')}`;
    expect(
      (
        await post(url, {
          body: form,
          headers: { ...signedHeaders(secret, form, 'form'), 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).status,
    ).toBe(200);
    for (const [name, raw] of [
      ['invalid', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
      ['bom', Buffer.from('\ufeff{"text":"x"}\r\n')],
      ['none', Buffer.from('not json')],
    ] as const)
      expect([name, (await post(url, { body: raw, headers: signedHeaders(secret, raw, name) })).status]).toEqual([
        name,
        200,
      ]);
    // Without an id of its own its bytes are its name, and an id that no column keeps is none.
    const { 'x-example-delivery': _, ...unnamed } = signedHeaders(secret, '{"text":"unnamed"}');
    for (const headers of [unnamed, unnamed, { ...unnamed, 'x-example-delivery': 'x'.repeat(2_000) }])
      expect((await post(url, { body: '{"text":"unnamed"}', headers })).status).toBe(200);
    expect((await rows(id)).map((row) => row.delivery_id)).toEqual([
      'form',
      'invalid',
      'bom',
      'none',
      expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('finds the tenant of the platform’s app by the account in the signed body, and answers 200 to an unclaimed one', async () => {
    const url = `${app.url}/api/integration/example/events`;
    const mine = await connected();
    const theirs = await connected({}, await app.user('Vera'));
    for (const [connection, account] of [
      [mine, 'installation-1'],
      [theirs, 'installation-2'],
    ] as const)
      await app.owner.query('UPDATE app.integration_connection SET platform = true, account = $2 WHERE id = $1', [
        connection.id,
        account,
      ]);
    expect((await post(url, exampleDelivery(APP_SECRET, { account: 'installation-2' }))).status).toBe(200);
    expect(
      (await post(url, exampleDelivery('the-one-before-that-of-the-app', { account: 'installation-2' }))).status,
    ).toBe(200);
    expect((await post(url, exampleDelivery(APP_SECRET, { account: 'installation-3' }))).status).toBe(200);
    expect((await post(url, exampleDelivery(APP_SECRET, {}))).status).toBe(200);
    // Their own address is no way in any more, and a tenant's secret signs nothing for the platform.
    expect((await post(url, exampleDelivery(mine.secret, { account: 'installation-2' }))).status).toBe(401);
    await until('the address to be unknown', async () =>
      (await post(mine.url, exampleDelivery(mine.secret, {}))).status === 401 ? true : null,
    );
    expect([await rows(mine.id), await rows(theirs.id)].map((list) => list.length)).toEqual([0, 2]);
    expect((await post(`${app.url}/api/integration/other/events`, exampleDelivery(APP_SECRET, {}))).status).toBe(401);
  });

  it('refuses with 429 what one connection delivers beyond its rate, and takes what others deliver', async () => {
    const [loud, quiet] = [await connected(), await connected()];
    const statuses: number[] = [];
    for (let wave = 0; wave < 14; wave += 1)
      statuses.push(
        ...(await Promise.all(
          Array.from({ length: 30 }, async () => (await post(loud.url, exampleDelivery(loud.secret, {}))).status),
        )),
      );
    expect(statuses.filter((status) => status === 200)).toHaveLength(400);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await post(quiet.url, exampleDelivery(quiet.secret, {}))).status).toBe(200);
  });
});

/** With the signature in two headers, which `fetch` would join. */
function doubled(url: string, body: string, headers: Record<string, string>, signature: string): Promise<[number]> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', headers: { ...headers, 'x-example-signature': [signature, signature] } },
      (response) => {
        response.resume();
        response.once('end', () => resolve([response.statusCode ?? 0]));
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Writes bytes to the server and waits until it hangs up. @returns what it said. */
function rawly(url: string, pieces: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let said = '';
    socket.on('data', (chunk) => {
      said += String(chunk);
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(said));
    for (const piece of pieces) socket.write(piece);
  });
}
