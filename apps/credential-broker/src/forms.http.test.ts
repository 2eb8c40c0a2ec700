import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('forms of a credential', () => {
  let world: TestBroker;
  let origin: Origin;
  let answer = 'hello';
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (request, response) => {
      request.resume().once('end', () => response.end(answer));
    });
  });
  beforeEach(async () => {
    origin.seen.length = 0;
    answer = 'hello';
  });
  afterAll(() => world?.close());
  const places = (more: object = {}) => [{ host: HOST, port: origin.port, ...more }];
  const last = () => origin.seen.at(-1);

  it('basic and header are put into their headers', async () => {
    const one = credential({ form: 'basic', username: 'ada', places: places() });
    await world.give(one);
    expect((await world.ask({ host: HOST })).status).toBe(200);
    expect(last()?.headers.authorization).toBe(basic(`ada:${one.value}`));
    const other = credential({ form: 'header', header: 'X-Thing', prefix: 'v1 ', places: places() });
    await world.give(other);
    expect((await world.ask({ host: HOST, method: 'POST', body: 'x' })).status).toBe(200);
    expect(last()).toMatchObject({ body: 'x', headers: { 'x-thing': `v1 ${other.value}`, 'content-length': '1' } });
    expect(await world.ask({ host: HOST, headers: { 'x-thing': 'mine' } })).toMatchObject({
      code: 'credential.foreign',
    });
  });

  it('a workload token is sent as a bearer token, and masked where it comes back', async () => {
    const identity = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJvcmc6b3JnXzEifQ.c2lnbmF0dXJl';
    const one = credential({ form: 'workload-token', audience: 'api', places: places() }, { value: '', identity });
    await world.give(one);
    expect((await world.ask({ host: HOST })).status).toBe(200);
    expect(last()?.headers.authorization).toBe(`Bearer ${identity}`);
    expect(await world.ask({ host: HOST, headers: { authorization: `Bearer ${identity}` } })).toMatchObject({
      code: 'credential.foreign',
    });
    answer = `you are ${identity}`;
    expect((await world.ask({ host: HOST })).text).toBe(`you are <secret:${one.name}>`);
    expect(await world.ask({ host: HOST })).toMatchObject({ code: 'credential.resting' });
  });

  it('of two at one place the narrower is used, and elsewhere the other', async () => {
    const narrow = credential({ form: 'bearer', places: places({ paths: ['/a/**'] }) }, { scope: 'repository' });
    const wide = credential({ form: 'bearer', places: places() });
    await world.give(narrow, wide);
    for (const [path, value] of [
      ['/a/x', narrow.value],
      ['/b', wide.value],
    ] as const) {
      await world.ask({ host: HOST, path });
      expect(last()?.headers.authorization).toBe(`Bearer ${value}`);
    }
  });

  describe('placeholder', () => {
    const reference = 'sk-slp_ref_TOKEN_abcdefghij_-1234';
    const other = 'slp_ref_OTHER_abcdefghij_-1234';
    const give = async () => {
      const one = credential(
        { form: 'placeholder', shape: 'sk-', places: places({ paths: ['/v1/**'] }) },
        { reference },
      );
      await world.give(
        one,
        credential({ form: 'placeholder', places: places({ paths: ['/v2/**'] }) }, { reference: other }),
      );
      return one;
    };

    it('replaces the reference in headers, in Basic and in the query', async () => {
      const { value } = await give();
      for (const [headers, path, found] of [
        [{ authorization: `Bearer ${reference}` }, '/v1/x', { authorization: `Bearer ${value}` }],
        [{ 'x-api-key': reference }, '/v1/x', { 'x-api-key': value }],
        [{ authorization: basic(`ada:${reference}`) }, '/v1/x', { authorization: basic(`ada:${value}`) }],
        [{ authorization: basic(`${reference}:`) }, '/v1/x', { authorization: basic(`${value}:`) }],
      ] as const) {
        expect((await world.ask({ host: HOST, path, headers: { ...headers } })).status).toBe(200);
        expect(last()?.headers).toMatchObject(found);
      }
      expect((await world.ask({ host: HOST, path: `/v1/x?a=b&key=${reference}` })).status).toBe(200);
      expect(last()?.url).toBe(`/v1/x?a=b&key=${encodeURIComponent(value)}`);
      expect((await world.ask({ host: HOST, path: '/v1/x' })).status).toBe(200);
      expect(last()?.headers.authorization).toBeUndefined();
    });

    it('(B2) a reference that is not this conversation’s, changed, hidden or elsewhere is never forwarded', async () => {
      await give();
      const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
      for (const [path, headers] of [
        ['/v1/x', bearer(other)],
        ['/v2/x', bearer(reference)],
        ['/v1/x', bearer('slp_ref_TOKEN_0000000000000000')],
        ['/v1/x', bearer(reference.slice(0, -1))],
        ['/v1/x', bearer(reference + reference)],
        ['/v1/x', bearer(reference.toUpperCase())],
        ['/v1/x', bearer(Buffer.from(reference).toString('base64'))],
        ['/v1/x', { authorization: basic(`ada:${other}`) }],
        ['/v1/x', { 'x-harmless': other }],
        ['/v1/x', { 'x-harmless': reference.replace('_', '%5f') }],
        [`/v1/x?q=${other}`, {}],
        [`/v1/x?q=${reference.replace('slp_', 'slp%5F')}`, {}],
        [`/v1/${reference}`, {}],
        ['/elsewhere', bearer(reference)],
      ] as const)
        expect([path, headers, await world.ask({ host: HOST, path, headers: { ...headers } })]).toEqual([
          path,
          headers,
          expect.objectContaining({ status: 403, code: 'credential.misplaced' }),
        ]);
      expect(origin.seen).toEqual([]);
      expect(
        await world.ask({ host: HOST, path: '/v1/x', headers: { cookie: `a=${reference}; b=mine` } }),
      ).toMatchObject({
        code: 'credential.foreign',
      });
    });
  });

  describe('aws-sigv4', () => {
    const dummy = async (region: string, service: string, more: Record<string, string> = {}, body = '') =>
      (
        await new SignatureV4({
          region,
          service,
          credentials: { accessKeyId: 'AKIADUMMY', secretAccessKey: 'dummy', sessionToken: 'session' },
          sha256: Sha256,
          applyChecksum: service === 's3',
          uriEscapePath: service !== 's3',
        }).sign(
          {
            method: 'POST',
            protocol: 'https:',
            hostname: HOST,
            path: '/bucket/a%20b',
            query: { list: 'x y', flag: '' },
            headers: { host: `${HOST}:${origin.port}`, ...more },
            body,
          },
          { signingDate: new Date(0) },
        )
      ).headers;
    const path = '/bucket/a%20b?list=x%20y&flag';

    it('signs anew what was signed with dummy keys, for the same service and region', async () => {
      const one = credential({ form: 'aws-sigv4', accessKeyId: 'AKIAREAL', places: places() });
      await world.give(one);
      for (const [region, service] of [
        ['eu-west-1', 's3'],
        ['us-east-1', 'dynamodb'],
      ] as const) {
        const headers = await dummy(region, service, { 'x-amz-target': 'T', 'content-type': 'application/json' }, '{}');
        expect((await world.ask({ host: HOST, method: 'POST', path, headers, body: '{}' })).status).toBe(200);
        const seen = last();
        expect(seen?.body).toBe('{}');
        expect(seen?.headers['x-amz-security-token']).toBeUndefined();
        const date = String(seen?.headers['x-amz-date']);
        const signed = String(seen?.headers.authorization);
        expect(signed).toContain(`Credential=AKIAREAL/${date.slice(0, 8)}/${region}/${service}/aws4_request`);
        const names = /SignedHeaders=([^,]+)/.exec(signed)?.[1]?.split(';') ?? [];
        expect(names).toEqual(expect.arrayContaining(['host', 'content-type', 'x-amz-content-sha256', 'x-amz-target']));
        // As the host does it: from what it has received.
        const again = await new SignatureV4({
          region,
          service,
          credentials: { accessKeyId: 'AKIAREAL', secretAccessKey: one.value },
          sha256: Sha256,
          applyChecksum: false,
          uriEscapePath: service !== 's3',
        }).sign(
          {
            method: 'POST',
            protocol: 'https:',
            hostname: HOST,
            path: '/bucket/a%20b',
            query: { list: 'x y', flag: '' },
            headers: Object.fromEntries(names.map((name) => [name, String(seen?.headers[name])])),
          },
          { signingDate: new Date(date.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5')) },
        );
        expect(again.headers['authorization']).toBe(signed);
        expect(seen?.headers['x-amz-content-sha256']).toBe(createHash('sha256').update('{}').digest('hex'));
      }
    });

    it('refuses chunked signatures and (B12) presigned URLs in words', async () => {
      await world.give(credential({ form: 'aws-sigv4', accessKeyId: 'AKIAREAL', places: places() }));
      const headers = {
        ...(await dummy('eu-west-1', 's3')),
        'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      };
      expect(await world.ask({ host: HOST, method: 'PUT', path, headers, body: 'x' })).toMatchObject({
        code: 'credential.unsupported',
      });
      for (const query of ['X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=x&X-Amz-Signature=y'])
        expect((await world.ask({ host: HOST, path: `/b?${query}` })).status).toBe(403);
      expect(await world.ask({ host: HOST, path: '/b' })).toMatchObject({ code: 'credential.unsupported' });
      expect(origin.seen).toEqual([]);
    });
  });
});

/** As the signer of a client has it. */
class Sha256 {
  private parts: Buffer[] = [];
  constructor(private readonly secret?: string | ArrayBuffer | ArrayBufferView) {}
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.parts.push(toBuffer(data));
  }
  async digest(): Promise<Uint8Array> {
    const { createHmac } = await import('node:crypto');
    const hash = this.secret === undefined ? createHash('sha256') : createHmac('sha256', toBuffer(this.secret));
    return hash.update(Buffer.concat(this.parts)).digest();
  }
  reset(): void {
    this.parts = [];
  }
}

const toBuffer = (data: string | ArrayBuffer | ArrayBufferView): Buffer =>
  typeof data === 'string'
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data);
