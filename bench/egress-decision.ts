// What it costs that an organization decides what its sandboxes reach: a decision that egress-proxy remembers, one that
// it asks app-server for, what counting adds to a connection, a CONNECT by either, and how soon a yes lets bytes
// through and a removed rule cuts them off.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { ControlClient } from '../apps/egress-proxy/dist/control/control-client.js';
import { EgressDecisions } from '../apps/egress-proxy/dist/control/egress-decisions.js';
import type { Line } from '../apps/egress-proxy/dist/lines/line.js';
import { OpenLines } from '../apps/egress-proxy/dist/lines/open-lines.js';
import { Tallies } from '../apps/egress-proxy/dist/tallies/tallies.js';
import { CLAIMS } from '../apps/egress-proxy/dist/testing/test-egress.js';
import { EgressWorld } from '../tests/egress/world.ts';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const REMEMBERED = quick(100_000, 1_000);
const ASKED = quick(3_000, 50);
const CONNECTS = quick(500, 20);
const ANSWERS = quick(100, 4);

export default async function run(report: Report): Promise<void> {
  const world = await EgressWorld.start(20);
  const pool = createPool({ url: world.app.database.urls.app, max: 1, applicationName: 'bench', onError: () => {} });
  const lines = new OpenLines({ bytes: 2 ** 40, ageMs: 3_600_000 });
  const client = new ControlClient(world.controlUrl, world.controlSecret);
  const decisions = new EgressDecisions({ client, holdMs: 1_000, lines, logger: createLogger('bench', 'silent') });
  const figures = (name: string, samples: readonly number[], floor: readonly number[] | null): void => {
    for (const p of [0.5, 0.99])
      report.figure({
        figure: `${name}_p${p * 100}`,
        value: percentile([...samples], p),
        unit: 'ms',
        ...(floor === null ? {} : { floor: percentile([...floor], p) }),
        n: samples.length,
      });
  };
  try {
    const ada = await world.app.user('Ada');
    const sandbox = await world.sandbox(ada);
    const target = world.name('allowed.example');
    const [host = '', port = ''] = target.split(':');
    await world.rule(ada, { host: target, action: 'allow' });
    const asking = {
      claims: { ...CLAIMS, ...sandbox },
      destination: { host, port: Number(port) },
      actionId: null,
      listed: false,
    };
    const gone = new AbortController().signal;
    const map = new Map([[host, 1]]);
    figures(
      'remembered',
      await timeEach(REMEMBERED, async () => void (await decisions.admit(asking, gone)), 100),
      await timeEach(REMEMBERED, async () => void map.get(host), 100),
    );
    figures('counted', await countEach(asking), null);
    const question = {
      claim: sandbox.claim,
      org: sandbox.org,
      conversation: sandbox.conversation,
      host,
      port: Number(port),
      actionId: null,
      openedBy: null,
      listed: false,
    };
    figures(
      'asked',
      await timeEach(ASKED, async () => void (await client.decide(question)), 20),
      await timeEach(ASKED, async () => void (await pool.query({ name: 'bare', text: 'SELECT 1' })), 20),
    );
    const listed = world.name('git.example');
    figures(
      'connect',
      await timeEach(CONNECTS, async () => void (await world.status(sandbox, target)), 20),
      await timeEach(CONNECTS, async () => void (await world.status(sandbox, listed)), 20),
    );
    const [cards, passed, cut]: [number[], number[], number[]] = [[], [], []];
    for (let each = 0; each < ANSWERS; each += 1) {
      const name = `asked-${each}.example`;
      const asker = await world.sandbox(ada);
      const begun = performance.now();
      const connecting = world.connect(asker, world.name(name));
      const request = await world.waiting(ada, asker, name);
      cards.push(performance.now() - begun);
      const answered = performance.now();
      await world.answer(ada, asker, request, { scope: 'conversation' });
      const tunnel = await connecting;
      await world.ask(tunnel);
      passed.push(performance.now() - answered);
      const { data: rules } = (
        await world.app.http<{ data: Array<{ id: string; requestId: string | null }> }>(
          ada,
          'GET',
          `/api/v1/orgs/${ada.orgId}/egress-rules`,
        )
      ).body;
      const rule = rules.find(({ requestId }) => requestId === request.id);
      const removed = performance.now();
      const closed = once(tunnel.socket, 'close');
      await world.app.http(ada, 'DELETE', `/api/v1/orgs/${ada.orgId}/egress-rules/${rule?.id}`);
      await closed;
      cut.push(performance.now() - removed);
    }
    figures('connect_to_request', cards, null);
    figures('yes_to_bytes', passed, null);
    figures('revoke_to_cut', cut, null);
  } finally {
    decisions.close();
    client.close();
    lines.close();
    await pool.end();
    await world.close();
  }
}

/** The begin and the bytes of a connection to one of 100 hosts, without sending what was counted. */
async function countEach({ claims }: Pick<Line, 'claims'>): Promise<number[]> {
  const client = { count: async () => {} };
  const tallies = new Tallies({ client, lines: [], source: randomUUID(), logger: createLogger('bench', 'silent') });
  let host = 0;
  const samples = await timeEach(
    REMEMBERED,
    async () => {
      host = (host + 1) % 100;
      const socket = { bytesWritten: 0, bytesRead: 0 };
      const destination = { host: `h${host}.example`, port: 443 };
      const line: Line = {
        kind: 'connect',
        claims,
        destination,
        socket: socket as Socket,
        admitted: null,
        allowance: null,
        since: 0,
        cut: null,
      };
      tallies.begun(line);
      socket.bytesWritten += 1;
      tallies.carried(line);
    },
    100,
  );
  await tallies.close();
  return samples;
}
