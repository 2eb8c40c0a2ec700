import { randomUUID } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ConversationEvent, EventPage, LoggedEvent } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';

describe('GET /api/v1/orgs/:org/conversations/:conversation/events', () => {
  let app: ConversationApp;
  let user: User;
  let id: string;

  /** Reads server-sent events until the connection ends. */
  const stream = async (query: string, headers: Record<string, string> = {}) => {
    const abort = new AbortController();
    const response = await fetch(`${app.url}${app.path(user, id, `/events${query}`)}`, {
      headers: { cookie: user.cookie, accept: 'text/event-stream', ...headers },
      signal: abort.signal,
    });
    const seen: Array<{ id: number; line: LoggedEvent }> = [];
    let ended = false;
    void (async () => {
      let text = '';
      for await (const part of response.body ?? []) {
        text += Buffer.from(part).toString('utf8');
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const match = /^id: (\d+)\ndata: (.*)$/.exec(block);
          if (match !== null)
            seen.push({ id: Number(match[1]), line: LoggedEvent.parse(JSON.parse(match[2] as string)) });
        }
      }
    })().then(
      () => {
        ended = true;
      },
      () => {
        ended = true;
      },
    );
    return { response, seen, ended: () => ended, close: () => abort.abort() };
  };
  const append = async (from: number, count: number) => {
    for (let next = from; next < from + count; next += 400)
      expect(
        (
          await app.ingest(
            user,
            id,
            Array.from({ length: Math.min(400, from + count - next) }, (_, index) => ({
              producerSeq: next + index,
              event: thought(`event ${next + index}`),
            })),
          )
        ).status,
      ).toBe(200);
  };

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
    ({ id } = await app.conversation(user));
    await app.started(id);
    await append(1, 1_200);
  });
  afterAll(() => app?.close());

  it('200: pages forward from a position, and back from one, always ascending', async () => {
    const page = async (query: string) => {
      const answer = await app.http(user, 'GET', app.path(user, id, `/events?${query}`));
      expect(answer.status).toBe(200);
      const parsed = EventPage.parse(answer.body);
      return { seqs: parsed.data.map(({ seq }) => seq), page: parsed.page };
    };
    expect(await page('after=0&limit=3')).toEqual({ seqs: [1, 2, 3], page: { head: 1_200, nextAfter: 3 } });
    expect(await page('after=1198')).toEqual({ seqs: [1_199, 1_200], page: { head: 1_200, nextAfter: null } });
    expect(await page('before=11&limit=3')).toMatchObject({ seqs: [8, 9, 10] });
    expect(await page('after=5000')).toMatchObject({ seqs: [] });
  });

  it('200: a long page is packed for who takes gzip, and plain for who does not', async () => {
    const read = async (encoding: string) => {
      const headers = { cookie: user.cookie, 'accept-encoding': encoding };
      const answer = await new Promise<IncomingMessage>((resolve, reject) =>
        get(`${app.url}${app.path(user, id, '/events?after=0&limit=400')}`, { headers }, resolve).once('error', reject),
      );
      return {
        statusCode: answer.statusCode,
        encoding: answer.headers['content-encoding'],
        vary: answer.headers.vary,
        bytes: await buffer(answer),
      };
    };
    const [packed, plain] = [await read('br, gzip'), await read('identity')];
    expect([packed.statusCode, packed.encoding, packed.vary, plain.encoding]).toEqual([
      200,
      'gzip',
      'accept-encoding',
      undefined,
    ]);
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    expect(packed.bytes.length * 4).toBeLessThan(plain.bytes.length);
  });

  it('200: of one kind alone, forward from a position or the last ones before one, without a next page at the end', async () => {
    const other = await app.conversation(user);
    await app.started(other.id);
    const update = (): ConversationEvent => ({
      id: randomUUID(),
      kind: 'SystemPromptEvent',
      timestamp: new Date().toISOString(),
      source: 'agent',
      system_prompt: { type: 'text', text: 'You are an agent.' },
      tools: [],
    });
    const events = [thought('1'), update(), thought('3'), update(), update(), thought('6')].map((event, index) => ({
      producerSeq: index + 1,
      event,
    }));
    expect((await app.ingest(user, other.id, events)).status).toBe(200);
    const page = async (query: string) => {
      const answer = await app.http(user, 'GET', app.path(user, other.id, `/events?kind=SystemPromptEvent&${query}`));
      expect(answer.status).toBe(200);
      const parsed = EventPage.parse(answer.body);
      return { seqs: parsed.data.map(({ seq }) => seq), page: parsed.page };
    };
    expect(await page('')).toEqual({ seqs: [2, 4, 5], page: { head: 6, nextAfter: null } });
    expect(await page('limit=1')).toEqual({ seqs: [2], page: { head: 6, nextAfter: 2 } });
    expect(await page('after=2&limit=10')).toMatchObject({ seqs: [4, 5] });
    expect(await page('before=7&limit=2')).toMatchObject({ seqs: [4, 5] });
    expect(await page('before=2')).toMatchObject({ seqs: [] });
    const stranger = await app.user();
    expect(
      (await app.http(stranger, 'GET', app.path(stranger, other.id, '/events?kind=SystemPromptEvent'))).status,
    ).toBe(404);
  });

  it('400 for a kind that there is not, and for one kind of a stream', async () => {
    expect((await app.http(user, 'GET', app.path(user, id, '/events?kind=Nonsense'))).status).toBe(400);
    expect(
      (
        await app.http(user, 'GET', app.path(user, id, '/events?kind=MessageEvent'), undefined, {
          accept: 'text/event-stream',
        })
      ).status,
    ).toBe(400);
  });

  it('400 for a position that is none', async () => {
    for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=1001', 'before=0'])
      expect((await app.http(user, 'GET', app.path(user, id, `/events?${query}`))).status).toBe(400);
    expect(
      (
        await app.http(user, 'GET', app.path(user, id, '/events?after=99999'), undefined, {
          accept: 'text/event-stream',
        })
      ).status,
    ).toBe(400);
  });

  it('streams history and then live, each line once and in order, and goes on from Last-Event-ID', async () => {
    const all = await stream('');
    expect(all.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const late = await stream('?after=3', { 'last-event-id': '1199' });
    await until('history', () => all.seen.length === 1_200);
    await append(1_201, 50);
    await until('live', () => all.seen.length === 1_250 && late.seen.length === 51);
    expect(all.seen.map((each) => each.id)).toEqual(Array.from({ length: 1_250 }, (_, index) => index + 1));
    expect(late.seen.map((each) => each.line.seq)).toEqual(Array.from({ length: 51 }, (_, index) => index + 1_200));
    all.close();
    late.close();
  });

  it('ends a stream within a second of the sign-out', async () => {
    const other = await app.user();
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
      user.orgId,
      other.userId,
    ]);
    const mine = user;
    user = { ...other, orgId: mine.orgId };
    const open = await stream('?after=1250');
    await app.owner.query('DELETE FROM app.session WHERE id = $1', [other.sessionId]);
    await until('the end of the stream', () => open.ended(), 4_000);
    user = mine;
  });

  it('the trajectory is the whole log as one JSON array', async () => {
    const answer = await app.http<LoggedEvent[]>(user, 'GET', app.path(user, id, '/trajectory'));
    expect(answer.status).toBe(200);
    expect(answer.body.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_250 }, (_, index) => index + 1));
    expect(answer.headers.get('content-disposition')).toContain(`${id}.json`);
    const empty = await app.conversation(user);
    expect((await app.http(user, 'GET', app.path(user, empty.id, '/trajectory'))).body).toEqual([]);
  });
});
