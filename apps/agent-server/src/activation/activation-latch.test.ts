import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { TestSandbox } from '../testing/sandbox.js';
import { ActivationLatch, type ActivationRecord } from './activation-latch.js';

const record = (claim: string, body = 'b'): ActivationRecord => ({
  claim_id: claim,
  body_sha256: body,
  epoch: 1,
  org: 'org_1',
  session_key_hashes: ['h'],
  env: {},
});

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-latch-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe('the activation latch', () => {
  it('lets exactly one claim in, in any order, at any speed, over any number of restarts', async () => {
    const step = fc.oneof(
      fc.record({ claim: fc.constantFrom('a', 'b', 'c'), body: fc.constantFrom('1', '2') }),
      fc.constant('restart' as const),
      fc.constant('together' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) =>
        inDirectory(async (directory) => {
          let latch = await ActivationLatch.open(directory);
          const waiting: Array<Promise<{ key: string; verdict: string }>> = [];
          const verdicts: Array<{ key: string; verdict: string }> = [];
          for (const item of steps) {
            if (item === 'restart') {
              verdicts.push(...(await Promise.all(waiting.splice(0))));
              latch = await ActivationLatch.open(directory);
            } else if (item === 'together') verdicts.push(...(await Promise.all(waiting.splice(0))));
            else
              waiting.push(
                latch
                  .claim(record(item.claim, item.body))
                  .then((verdict) => ({ key: `${item.claim}/${item.body}`, verdict })),
              );
          }
          verdicts.push(...(await Promise.all(waiting)));
          const accepted = verdicts.filter(({ verdict }) => verdict === 'accepted');
          expect(accepted).toHaveLength(verdicts.length === 0 ? 0 : 1);
          for (const { key, verdict } of verdicts) if (verdict === 'repeated') expect(key).toBe(accepted[0]?.key);
          for (const { key, verdict } of verdicts) if (verdict === 'refused') expect(key).not.toBe(accepted[0]?.key);
        }),
      ),
      { numRuns: 60 },
    );
  });

  it('stays closed for all when its record cannot be read', async () => {
    await inDirectory(async (directory) => {
      await writeFile(path.join(directory, 'activation.json'), '{"claim_id":"a"');
      const latch = await ActivationLatch.open(directory);
      expect(await latch.claim(record('a'))).toBe('refused');
    });
  });
});

/** A token as an attacker without the platform's key would make it: with a header and a signature of his choice. */
function forge(
  sandbox: TestSandbox,
  body: string,
  header: object,
  signature: (head: string) => string,
  more: object = {},
): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    aud: 'slipway-activation',
    iat: Math.floor(Date.now() / 1000),
    slot_id: sandbox.slotId,
    pod_uid: sandbox.podUid,
    claim_id: 'clm_forged',
    epoch: 1,
    org: 'org_1',
    body_sha256: createHash('sha256').update(body).digest('base64url'),
    ...more,
  };
  const head = `${encode(header)}.${encode(claims)}`;
  return `${head}.${signature(head)}`;
}

describe('POST /api/init', () => {
  it('takes no token without a signature, with one of another algorithm or with a key of its own, and no repetition that says something else', async () => {
    const sandbox = await TestSandbox.create();
    try {
      await sandbox.startActionServer();
      await sandbox.startAgentServer();
      const body = JSON.stringify({ session_api_keys: ['key-of-an-attacker-0123456789'], env: {} });
      const send = async (token: string): Promise<number> =>
        (
          await fetch(`${sandbox.url}/api/init`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body,
          })
        ).status;
      const own = generateKeyPairSync('ed25519');
      const bySecret = (secret: string | Buffer) => (head: string) =>
        createHmac('sha256', secret).update(head).digest('base64url');
      const forged = [
        forge(sandbox, body, { alg: 'none' }, () => ''),
        forge(sandbox, body, { alg: 'None' }, () => 'AAAA'),
        forge(sandbox, body, { alg: 'EdDSA' }, () => ''),
        forge(sandbox, body, { alg: 'HS256' }, bySecret(sandbox.publicKey)),
        forge(sandbox, body, { alg: 'HS256' }, bySecret(Buffer.from(sandbox.publicKey, 'base64'))),
        forge(sandbox, body, { alg: 'EdDSA', jwk: own.publicKey.export({ format: 'jwk' }), kid: '/dev/null' }, (head) =>
          sign(null, Buffer.from(head), own.privateKey).toString('base64url'),
        ),
        `${forge(sandbox, body, { alg: 'EdDSA' }, () => 'AAAA')}.AAAA`,
        'a.b.c',
        '',
      ];
      for (const [index, token] of forged.entries()) expect([index, await send(token)]).toEqual([index, 401]);
      for (const claim of [{ epoch: 'latest' }, { epoch: undefined }, { exp: Math.floor(Date.now() / 1000) - 1 }])
        expect([claim, (await sandbox.activate({ claim })).status]).toEqual([claim, 401]);
      expect(((await (await fetch(`${sandbox.url}/api/init`)).json()) as { state: string }).state).toBe('dormant');

      expect((await sandbox.activate({})).status).toBe(200);
      // The same claim again is heard and changes nothing; with other keys it is another claim.
      const stolen = await sandbox.activate({ body: { session_api_keys: ['key-of-an-attacker-0123456789'] } });
      expect([stolen.status, ((await stolen.json()) as { code: string }).code]).toEqual([
        409,
        'sandbox.already-activated',
      ]);
      const answer = await fetch(`${sandbox.url}/api/conversations/count`, {
        headers: { 'x-session-api-key': 'key-of-an-attacker-0123456789' },
      });
      expect(answer.status).toBe(401);
      expect((await sandbox.call('GET', '/api/conversations/count')).status).toBe(200);
    } finally {
      await sandbox.close();
    }
  });

  it('accepts one signed claim and its repetition, and nothing forged, foreign, old or second, before, after and over a restart', async () => {
    const sandbox = await TestSandbox.create();
    try {
      await sandbox.startActionServer();
      await sandbox.startAgentServer();
      const state = async (): Promise<unknown> =>
        ((await (await fetch(`${sandbox.url}/api/init`)).json()) as { state: string }).state;
      const now = Math.floor(Date.now() / 1000);
      const forged = async (): Promise<number[]> =>
        (
          await Promise.all([
            sandbox.activate({ key: generateKeyPairSync('ed25519').privateKey }),
            sandbox.activate({ claim: { aud: 'someone-else' } }),
            sandbox.activate({ claim: { iat: now - 3_600 } }),
            sandbox.activate({ claim: { iat: now + 3_600 } }),
            sandbox.activate({ claim: { body_sha256: 'AAAA' } }),
            sandbox.activate({ claim: { slot_id: 'another' } }),
            sandbox.activate({ claim: { pod_uid: 'another' } }),
            fetch(`${sandbox.url}/api/init`, { method: 'POST', body: '{}' }),
          ])
        ).map((response) => response.status);
      const REFUSED = [401, 401, 401, 401, 401, 403, 403, 401];
      expect(await forged()).toEqual(REFUSED);
      expect((await sandbox.call<{ code: string }>('GET', '/api/conversations/count')).body.code).toBe(
        'sandbox.dormant',
      );
      expect(await state()).toBe('dormant');
      const race = await Promise.all(['x', 'y', 'z'].map((claim) => sandbox.activate({ claim: { claim_id: claim } })));
      expect(race.map((response) => response.status).sort()).toEqual([200, 409, 409]);
      const winner = ((await (await fetch(`${sandbox.url}/api/init`)).json()) as { claim_id: string }).claim_id;
      for (const _life of [1, 2]) {
        expect(await forged()).toEqual(REFUSED);
        expect((await sandbox.activate({ claim: { claim_id: winner } })).status).toBe(200);
        const other = await sandbox.activate({ claim: { claim_id: 'later' } });
        expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([
          409,
          'sandbox.already-activated',
        ]);
        expect((await sandbox.call('GET', '/api/conversations/count')).status).toBe(200);
        await sandbox.kill('agentServer');
        await sandbox.startAgentServer();
      }
      await until('the refusal in the log', () => sandbox.lines.some((line) => line.includes('second claim refused')));
    } finally {
      await sandbox.close();
    }
  });
});
