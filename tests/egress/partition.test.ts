import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { ControlClient } from '../../apps/egress-proxy/dist/control/control-client.js';
import { EgressDecisions } from '../../apps/egress-proxy/dist/control/egress-decisions.js';
import type { Line } from '../../apps/egress-proxy/dist/lines/line.js';
import { OpenLines } from '../../apps/egress-proxy/dist/lines/open-lines.js';
import { CLAIMS } from '../../apps/egress-proxy/dist/testing/test-egress.js';

const SECRET = 'control-secret-of-tests-0123456789abcdef';
const HOST = { host: 'api.example', port: 443 };
const ASKING = { claims: CLAIMS, destination: HOST, actionId: null, listed: false };
const LATE = { ...ASKING, destination: { host: 'late.example', port: 443 } };
const ALLOW = { decision: 'allow', rule: 'egr_1', ttlMs: 5_000, request: null, brokered: false };

describe('what an organization allowed, when app-server goes away', () => {
  const signature = new InternalSignature(SECRET, 'slipway-egress-control');
  /** By stream: how to say something on it. */
  const streams = new Map<ServerResponse, (change: object) => void>();
  /** What app-server answers; `null`: an error, as without its database. */
  let answer: object | null;
  let hears: boolean;
  /** Questions that were answered, and how long an answer about `LATE` is kept back. */
  let asks: number;
  let lateIsAsked: boolean;
  let release: Promise<void>;
  let now: number;
  let control: Server;
  let origin: TcpServer;
  let lines: OpenLines;
  let decisions: EgressDecisions;
  let client: ControlClient;

  beforeEach(async () => {
    [answer, hears, now, asks, release] = [ALLOW, true, 1_000_000, 0, Promise.resolve()];
    lateIsAsked = false;
    control = createServer(async (request, response) => {
      const signed = String(request.headers[SIGNATURE_HEADER]);
      const body = await text(request);
      const asked = { method: request.method ?? '', path: request.url ?? '', body };
      if (!signature.accepts(signed, asked, new Date())) return void response.writeHead(403).end();
      if (request.method === 'GET') {
        if (!hears) return void response.writeHead(503).end();
        let count = 0;
        const send = (change: object): void => {
          const line = JSON.stringify(change);
          response.write(`${signature.signAnswer(signed, `${count++} ${line}`)} ${line}\n`);
        };
        streams.set(response, send);
        return send({});
      }
      if (answer === null) return void response.writeHead(500).end();
      const said = JSON.stringify(answer);
      asks += 1;
      if (body.includes(LATE.destination.host)) {
        lateIsAsked = true;
        await release;
      }
      response.writeHead(200, { [SIGNATURE_HEADER]: signature.signAnswer(signed, said) }).end(said);
    });
    control.listen(0, '127.0.0.1');
    origin = createTcpServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    await Promise.all([once(control, 'listening'), once(origin, 'listening')]);
    lines = new OpenLines({ bytes: 2 ** 40, ageMs: 3_600_000 });
    client = new ControlClient(`http://127.0.0.1:${(control.address() as AddressInfo).port}`, SECRET);
    const logger = createLogger('egress-proxy', 'silent');
    decisions = new EgressDecisions({ client, holdMs: 0, lines, logger, now: () => now });
    await until('changes are heard', () => streams.size > 0);
  });
  afterEach(() => {
    decisions.close();
    client.close();
    lines.close();
    streams.clear();
    control.closeAllConnections();
    control.close();
    origin.close();
  });

  const admit = (asking = ASKING): Promise<string> =>
    decisions
      .admit(asking, new AbortController().signal)
      .then(({ rule, brokered }) => (brokered ? 'brokered' : (rule ?? 'listed')))
      .catch((error: { code: string }) => error.code);
  const open = async (asking = ASKING): Promise<Line> => {
    const admitted = await decisions.admit(asking, new AbortController().signal);
    const socket = connect((origin.address() as AddressInfo).port, '127.0.0.1');
    // A cut is a reset, at both ends.
    socket.on('error', () => {});
    await once(socket, 'connect');
    const line: Line = {
      ...asking,
      kind: 'connect',
      socket,
      admitted,
      allowance: null,
      since: performance.now(),
      cut: null,
    };
    lines.add(line);
    decisions.confirm(line, admitted);
    return line;
  };
  const say = (change: object): void => {
    for (const send of streams.values()) send(change);
  };
  const away = (): void => {
    [answer, hears] = [null, false];
    for (const stream of streams.keys()) stream.destroy();
  };

  it('holds for a minute, for new connections and for open ones, and no longer', async () => {
    expect(await admit()).toBe('egr_1');
    const line = await open();
    away();
    now += 59_000;
    expect(await admit()).toBe('egr_1');
    expect(line.cut).toBeNull();
    now += 1_000;
    expect(await admit()).toBe('egress.undecided');
    await until('the open one is cut', () => line.cut === 'undecided');
  });

  it('holds no longer where app-server is heard and cannot decide: without its database', async () => {
    expect(await admit()).toBe('egr_1');
    const line = await open();
    answer = null;
    now += 59_000;
    expect(await admit()).toBe('egr_1');
    say({ org: CLAIMS.org });
    await until('it was asked again', async () => (await admit()) === 'egress.undecided');
    expect(line.cut).toBeNull();
    now += 60_000;
    say({});
    await until('the open one is cut', () => line.cut === 'undecided');
  });

  it('adversary: a removal that is said while an answer is on its way is not lost', async () => {
    const witness = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    release = promise;
    const opening = open(LATE);
    await until('the question is there', () => lateIsAsked);
    answer = { ...ALLOW, decision: 'deny', rule: null };
    say({ org: CLAIMS.org });
    await until('the removal is heard', () => witness.cut === 'revoked');
    // Only now comes the yes of before.
    resolve();
    const line = await opening;
    await until('what it let through is cut', () => line.cut === 'revoked');
    expect(await admit(LATE)).toBe('egress.refused');
  });

  it('is asked about again when its own organization has changed, once for what is alike', async () => {
    const alike = await Promise.all([open(), open(), open()]);
    const before = asks;
    say({ org: 'org_other' });
    say({ org: CLAIMS.org });
    await until('it was asked about', () => asks > before);
    expect([asks - before, alike.map(({ cut }) => cut)]).toEqual([1, [null, null, null]]);
  });

  it('is asked anew after every outage of the stream: what was said meanwhile was missed', async () => {
    const line = await open();
    answer = { ...ALLOW, decision: 'deny', rule: null };
    for (const stream of streams.keys()) stream.destroy();
    await until('it is cut', () => line.cut === 'revoked');
  });
});
