import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderClient } from '../calls/provider-client.js';
import type { Thread } from '../intent.js';
import type { Provider } from '../provider.js';
import { jira } from '../providers/jira/index.js';
import { linear } from '../providers/linear/index.js';
import { slack } from '../providers/slack/index.js';
import {
  jiraVendor,
  linearVendor,
  type ScriptedVendor,
  slackVendor,
  type VendorFate,
} from '../testing/scripted-vendors.js';
import type { Answer, Asked, ThreadAnswers } from './thread-answers.js';

interface Row {
  readonly name: string;
  readonly provider: Provider;
  readonly vendor: () => ScriptedVendor;
  readonly token: string;
  readonly authorization: string;
  readonly place: Thread['place'];
  readonly asked: Asked;
  /** Where its pages are said to be; else where the vendor listens. */
  readonly pages?: string;
  readonly reactions: number;
  /** How it says that the token is worth nothing, and that calls are too many. */
  readonly refusals: readonly (readonly [status: number, body: unknown, kind: string])[];
}

const CREDENTIAL = [401, {}, 'credential'] as const;
const LIMITED = [429, {}, 'limited'] as const;
const ROWS: readonly Row[] = [
  {
    name: 'Slack',
    provider: slack,
    vendor: slackVendor,
    token: 'xoxb-1',
    authorization: 'Bearer xoxb-1',
    place: { team: 'T1', channel: 'C1', ts: '1760000000.0001' },
    asked: { kind: 'comment', id: '1760000001.0001' },
    reactions: 1,
    refusals: [
      LIMITED,
      [200, { ok: false, error: 'token_revoked' }, 'credential'],
      [200, { ok: false, error: 'not_in_channel' }, 'forbidden'],
      [200, { ok: false, error: 'fatal_error' }, 'unavailable'],
    ],
  },
  {
    name: 'Jira Cloud',
    provider: jira,
    vendor: jiraVendor,
    token: 'bot@acme.test:secret',
    authorization: `Basic ${Buffer.from('bot@acme.test:secret').toString('base64')}`,
    place: { issue: '10001', key: 'SHOP-1' },
    asked: { kind: 'comment', id: '5' },
    pages: 'https://acme.atlassian.net',
    reactions: 0,
    refusals: [CREDENTIAL, LIMITED, [404, {}, 'missing']],
  },
  {
    name: 'Jira Data Center',
    provider: jira,
    vendor: jiraVendor,
    token: 'pat-1',
    authorization: 'Bearer pat-1',
    place: { issue: '10001', key: 'SHOP-1' },
    asked: { kind: 'comment', id: '5' },
    reactions: 0,
    refusals: [CREDENTIAL, LIMITED],
  },
  {
    name: 'issues of Linear',
    provider: linear,
    vendor: linearVendor,
    token: 'lin_api_1',
    authorization: 'lin_api_1',
    place: { issue: 'a1', team: 't1' },
    asked: { kind: 'comment', id: 'c1' },
    reactions: 1,
    refusals: [
      CREDENTIAL,
      [400, { errors: [{ message: 'x', extensions: { code: 'RATELIMITED' } }] }, 'limited'],
      [200, { errors: [{ message: 'no', extensions: { code: 'AUTHENTICATION_ERROR' } }] }, 'credential'],
    ],
  },
];

const answer = (headline: string, said: string | null = null): Answer => ({
  state: 'working',
  headline,
  said,
  links: [{ label: 'Open', url: 'https://slipway.test/x' }],
  marker: 'feedc0de',
});

async function callsOf(row: Row, vendor: ScriptedVendor): Promise<ThreadAnswers> {
  const url = await vendor.start();
  const access = row.provider.answers as NonNullable<Provider['answers']>;
  // As at the vendor's own address, but sent to where it listens here.
  const pages = row.pages ?? url;
  const dispatch = (at: string, request: RequestInit): Promise<Response> =>
    fetch(at.replace(new URL(pages).origin, url), request);
  const client = new ProviderClient({
    baseUrl: access.apiUrl(pages),
    authorization: access.authorization(row.token),
    dispatch: dispatch as never,
    now: () => new Date(vendor.now),
  });
  return access.calls(client, pages);
}

for (const row of ROWS) {
  describe(`answers in threads: ${row.name}`, () => {
    let vendor: ScriptedVendor;
    let calls: ThreadAnswers;
    beforeAll(async () => {
      vendor = row.vendor();
      calls = await callsOf(row, vendor);
    });
    afterAll(() => vendor?.close());
    beforeEach(() => {
      vendor.fates = [];
      vendor.messages.splice(0);
      vendor.reactions.splice(0);
    });

    it('show that a request was seen, once', async () => {
      await calls.acknowledge(row.place, row.asked, 'deed');
      await calls.acknowledge(row.place, row.asked, 'deed');
      expect(vendor.reactions).toHaveLength(row.reactions);
    });

    it('are one message that is edited, with the credential in its header alone', async () => {
      const { id } = await calls.post(row.place, answer('Working.'));
      await calls.update(row.place, id, answer('Done.', 'It adds up.'));
      expect(
        vendor.messages.map(({ shown }) => [
          shown.includes('Done.'),
          shown.includes('It adds up.'),
          shown.includes('Working.'),
        ]),
      ).toEqual([[true, true, false]]);
      expect([...vendor.authorizations]).toEqual([row.authorization]);
    });

    it('are found again after an answer that never came, and are none before', async () => {
      const since = new Date(vendor.now - 1_000);
      expect(await calls.find(row.place, 'feedc0de', since)).toBe(null);
      vendor.fates = ['lost'];
      await expect(calls.post(row.place, answer('Working.'))).rejects.toMatchObject({
        kind: 'unavailable',
        outcomeUnknown: true,
      });
      const found = await calls.find(row.place, 'feedc0de', since);
      await calls.update(row.place, found?.id ?? '', answer('Done.'));
      expect(vendor.messages.map(({ shown }) => shown.includes('Done.'))).toEqual([true]);
    });

    it('adversary: an agent that was talked into it mentions no user, and makes no link or markup', async () => {
      const said =
        '<!channel> @ada [~ada] <@U1> <https://evil.test|safe> {noformat}\n[~accountid:1]\n/close\n![x](https://evil.test/?q=1)';
      await calls.post(row.place, answer('Done.', said));
      const [message] = vendor.messages;
      expect(message?.shown).not.toMatch(/<!channel|<@U1|@ada|!\[/);
      if (row.provider === slack) expect(message?.shown).not.toMatch(/<https:\/\/evil|\n\/close/);
      if (row.provider === jira) expect(message?.shown).not.toMatch(/~ada|~accountid/);
      if (row.provider === linear) expect(message?.shown).not.toMatch(/\n\/close/);
      if (row.name === 'Jira Data Center') expect(message?.shown.match(/\{noformat\}/g)).toHaveLength(2);
      if (row.name === 'Jira Cloud') expect(message?.shown).not.toContain('"mention"');
    });

    it('are refused by kind', async () => {
      for (const [status, body, kind] of row.refusals) {
        vendor.fates = [[status, body]];
        await expect(calls.post(row.place, answer('Working.'))).rejects.toMatchObject({ kind });
      }
      expect(vendor.messages).toEqual([]);
      await expect(calls.post({ repository: 'acme/shop', number: 1 }, answer('x'))).rejects.toThrow();
    });
  });
}

describe('answers in agent sessions of Linear', () => {
  it('are activities: seen, then one for each state, and what is sent again is the same', async () => {
    const vendor = linearVendor();
    const url = await vendor.start();
    try {
      const access = linear.answers as NonNullable<Provider['answers']>;
      const client = new ProviderClient({
        baseUrl: access.apiUrl(url),
        authorization: 'x',
        dispatch: fetch as never,
        now: () => new Date(vendor.now),
      });
      const calls = access.calls(client, url);
      const place = { session: 's1', issue: 'a1' };
      for (let twice = 0; twice < 2; twice += 1) {
        await calls.acknowledge(place, { kind: 'subject' }, 'deed');
        const { id } = await calls.post(place, answer('Working.'));
        await calls.update(place, id, { ...answer('Approve it.'), state: 'waiting' });
        await calls.update(place, id, { ...answer('Done.'), state: 'done' });
      }
      expect(vendor.messages.map(({ shown }) => shown.split('\n', 2).join(' ').trim())).toEqual([
        'thought: Slipway has seen this.',
        'thought: Working.',
        'elicitation: Approve it.',
        'response: Done.',
      ]);
    } finally {
      vendor.close();
    }
  });
});

const TICKETS = ROWS.filter(({ provider }) => provider.answers?.effects?.includes('move') === true);

for (const row of TICKETS) {
  describe(`tickets: ${row.name}`, () => {
    let vendor: ScriptedVendor;
    let calls: ThreadAnswers;
    beforeAll(async () => {
      vendor = row.vendor();
      calls = await callsOf(row, vendor);
    });
    afterAll(() => vendor?.close());
    beforeEach(() => {
      vendor.fates = [];
      vendor.links.clear();
      Object.assign(vendor.ticket, { state: 'new', moves: 0 });
    });

    it('are moved by the kind of a state and not by its name, once, and never back', async () => {
      for (const stage of ['started', 'started', 'done', 'started', 'done'] as const)
        await calls.move?.(row.place, stage);
      expect([vendor.ticket.moves, ['done', 'completed'].includes(vendor.ticket.state)]).toEqual([2, true]);
    });

    it('are moved once, though an answer never came or came in half', async () => {
      for (const fate of ['lost', 'half'] as const) {
        vendor.ticket.state = 'new';
        vendor.ticket.moves = 0;
        const before = vendor.calls.length;
        await calls.move?.(row.place, 'started');
        const needed = vendor.calls.length - before;
        vendor.ticket.state = 'new';
        vendor.fates = [...Array<VendorFate>(needed - 1).fill('well'), fate];
        // What Jira answers to a move is empty: of that there is no half.
        await calls.move?.(row.place, 'started').catch(() => {});
        await calls.move?.(row.place, 'started');
        expect(vendor.ticket.moves).toBe(2);
      }
    });

    it('point to each page once', async () => {
      const link = { key: 'conversation:1', label: 'Slipway', url: 'https://slipway.test/c/1', resolved: false };
      for (const each of [link, link, { ...link, resolved: true }]) await calls.link?.(row.place, each);
      expect([...vendor.links.values()]).toEqual([link.url]);
    });
  });
}

describe('a ticket of Jira whose workflow has no way on', () => {
  it('is said to stand against it', async () => {
    const row = TICKETS.find(({ name }) => name === 'Jira Cloud') as Row;
    const vendor = row.vendor();
    const calls = await callsOf(row, vendor);
    try {
      vendor.fates = ['well', [200, { transitions: [] }]];
      await expect(calls.move?.(row.place, 'started')).rejects.toMatchObject({
        kind: 'conflict',
        outcomeUnknown: false,
      });
    } finally {
      vendor.close();
    }
  });
});
