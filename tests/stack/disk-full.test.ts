import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type Conversation } from '@slipway/contracts/conversations';
import { type Problem } from '@slipway/contracts/errors';
import { ORG_HEADER, type Runtime } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { OpenStack } from './open-stack.ts';
import { finish, terminal } from './script-book.ts';
import { SmallDisk } from './small-disk.ts';
import type { Talk } from './talk.ts';

/** Requests until one needs a page that the volume has not. */
const TRIES = 10;
const SERVICES = ['app-server', 'worker', 'runtime-api', 'llm-gateway'];

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-small-disk-'));
const opened = await SmallDisk.open(folder);
if (typeof opened === 'string') rmSync(folder, { recursive: true, force: true });

jest.setTimeout(240_000);

describeUnless(typeof opened === 'string' ? opened : false)(
  'the volume of Postgres is full while a conversation runs, and has room again',
  () => {
    const disk = opened as SmallDisk;
    let open: OpenStack;
    let working: Talk;
    /** Begun before there was no room, and not started. */
    let waiting: Talk;
    let pids: number[];
    let ending = false;

    beforeAll(async () => {
      open = await OpenStack.open({ env: { DATABASE_URL: disk.url } });
      pids = SERVICES.map((service) => open.stack.pidOf(service));
    });
    afterAll(async () => {
      await disk.free();
      await open?.close();
      await disk.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const counts = () => (ending ? finish() : terminal('sleep 0.3; echo step >> steps.txt; wc -l < steps.txt'));

    /** Asks until it is refused, which must be in the words of a full database. @returns what was taken before that. */
    async function refused<T>(what: string, ask: (index: number) => Promise<Response>): Promise<T[]> {
      const taken: T[] = [];
      for (let index = 0; index < TRIES; index += 1) {
        const response = await ask(index);
        const body = (await response.json()) as T & Problem & { error?: { message: string; code: string } };
        if (response.ok) {
          taken.push(body);
          continue;
        }
        // Whoever waits for a sandbox has a row that says so, too.
        if (body.code === 'sandbox.no-capacity') continue;
        const said = body.error ?? { message: body.detail, code: body.code };
        expect([what, response.status, said]).toEqual([
          what,
          503,
          expect.objectContaining({ code: 'service.unavailable' }),
        ]);
        expect(body.error?.message ?? body.detail).toContain('has no room left');
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
        return taken;
      }
      throw new Error(`${what}: none of ${TRIES} was refused for want of room`);
    }

    it('before it, one conversation is at work and another one has been asked for', async () => {
      working = await open.talk('working', counts);
      await until('it works', () => working.of('ObservationEvent').length > 1, 60_000);
      await disk.spread();
      process.kill(open.stack.pidOf('worker'), 'SIGSTOP');
      waiting = await open.talk('waiting', () => finish());
      await disk.fill();
      process.kill(open.stack.pidOf('worker'), 'SIGCONT');
    });

    it('what would have to be written is refused with 503, its reason and the time to come back: conversations, messages, claims, keys', async () => {
      const org = `/api/v1/orgs/${open.orgId}/conversations`;
      await refused<Conversation>('a conversation', (index) =>
        open.create({ prompt: open.book.write(`more-${index}`, () => finish()) }),
      );
      await refused('a message', () =>
        open.user.fetch(`${working.path}/messages`, { method: 'POST', json: { text: 'Mind this.' } }),
      );
      expect((await open.user.fetch(org)).status).toBe(200);
      const headers = {
        'x-api-key': open.secrets.runtimeApiKey,
        [ORG_HEADER]: open.orgId,
        'content-type': 'application/json',
        prefer: 'wait=0',
      };
      const runtime = (route: string, body: unknown): Promise<Response> =>
        fetch(`${open.addressOf('runtime-api')}${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const claims = await refused<Runtime>('a claim', (index) =>
        runtime('/start', { session_id: `claimed-${index}` }),
      );
      for (const { runtime_id } of claims) await runtime('/stop', { runtime_id });
      await refused('a key', () =>
        fetch(`${open.addressOf('llm-gateway')}/key/generate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${open.secrets.gatewayMasterKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ key_alias: 'one more' }),
        }),
      );
    });

    it('the agent goes on, its events wait with it and its calls in the gateway’s spool, and the user sees that it works', async () => {
      const asked = open.book.requestsOf('working').length;
      await until('three more steps', () => open.book.requestsOf('working').length > asked + 3, 30_000);
      const spool = path.join(open.stack.dataDirectory, 'gateway');
      const sandbox = await open.sandboxOf(working);
      await until('its events wait in the sandbox', async () => (await open.outboxOf(working, sandbox)).pending > 8);
      await until('calls are on disk', () =>
        readdirSync(spool, { recursive: true }).some((name) => String(name).endsWith('.jsonl')),
      );
      expect([(await working.get()).status, (await waiting.get()).status]).toEqual(['working', 'starting']);
    });

    it('with room again everything goes on by itself: each step is in the log once, each call in the ledger, and no process has ended', async () => {
      await disk.free();
      ending = true;
      await working.ended('finished', undefined, 60_000);
      await working.expectWholeLog();
      const steps = working.printedNumbers;
      expect(steps).toEqual(steps.map((_, index) => index + 1));
      await waiting.ended('finished', undefined, 60_000);
      await waiting.expectWholeLog();
      for (const [talk, harness] of [
        [working, 'working'],
        [waiting, 'waiting'],
      ] as const)
        await until('the ledger has each call once', async () => {
          const rows = await open.query<{ calls: number }>(
            'SELECT count(*)::int AS calls FROM gateway.ledger WHERE conversation_id = $1',
            [talk.id],
          );
          return rows[0]?.calls === open.book.requestsOf(harness).length;
        });
      const more = await open.talk('afterwards', () => finish());
      await more.ended('finished', undefined, 60_000);
      expect(SERVICES.map((service) => open.stack.pidOf(service))).toEqual(pids);
    });
  },
);
