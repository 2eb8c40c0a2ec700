import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { BROKER_SECRET, startBroker, type TestBroker } from '../testing/test-broker.js';
import { CONTROL_SECRET, TestControl } from '../testing/test-control.js';
import { basic, type Origin, startOrigin, TestEgress } from '../testing/test-egress.js';

const OF = { conversation: 'cnv_1' };
const ASKED = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a proxy that ends', () => {
  let control: TestControl;
  let broker: TestBroker;
  let origin: Origin;
  let world: TestEgress;
  beforeEach(async () => {
    control = await TestControl.start();
    broker = await startBroker(
      (heard) => void (heard.bytes.endsWith('\r\n\r\n') && heard.socket.end('HTTP/1.1 204 \r\n\r\n')),
    );
    origin = await startOrigin(undefined, '127.0.0.2');
    world = await TestEgress.start({
      EGRESS_PORTS: `80,443,${origin.port}`,
      EGRESS_PERMITTED_RANGES: '127.0.0.2/32',
      EGRESS_CONTROL_URL: control.url,
      EGRESS_CONTROL_SECRET: CONTROL_SECRET,
      EGRESS_HOLD_SECONDS: '0',
      BROKER_URL: `tcp://127.0.0.1:${broker.port}`,
      BROKER_SECRET,
    });
    world.names.set('mirror.example', ['127.0.0.2']);
    await until('changes are heard', () => control.hears);
  });
  afterEach(() => Promise.all([broker?.close(), origin?.close(), control?.close()]));
  const counted = () => control.batches.flatMap(({ rows }) => rows);

  it('sends what it counted, of connections that are open and of the host at a credential’s place too', async () => {
    control.answers.set('api.example', { brokered: true, rule: 'credential:crd_1', decision: 'allow' });
    const tunnel = await world.tunnel(`mirror.example:${origin.port}`, OF);
    tunnel.socket.on('error', () => {}).write(ASKED);
    const [answer] = (await once(tunnel.socket.resume(), 'data')) as [Buffer];
    const header = `Authorization: ${basic(world.password(OF))}\r\n`;
    expect(
      await world.raw(`GET /-/https/api.example/x HTTP/1.1\r\nHost: proxy\r\n${header}Connection: close\r\n\r\n`),
    ).toMatch(/ 204 /);
    expect((await world.tunnel('closed.example:443', OF)).status).toBe(403);
    await world.close();
    expect(counted()).toEqual([
      expect.objectContaining({
        host: 'mirror.example',
        port: origin.port,
        verdict: 'allowed',
        rule: '',
        listed: true,
        connections: 1,
        bytesOut: ASKED.length,
        bytesIn: answer.length,
      }),
      // Without the line that says to credential-broker whose connection it is.
      expect.objectContaining({
        host: 'api.example',
        rule: 'credential:crd_1',
        listed: false,
        connections: 1,
        bytesOut: broker.heard[0]?.bytes.length,
      }),
      expect.objectContaining({ host: 'closed.example', verdict: 'rule', listed: false, connections: 1, bytesOut: 0 }),
    ]);
  });

  it('does not wait for an app-server that is away', async () => {
    expect((await world.tunnel(`mirror.example:${origin.port}`, OF)).status).toBe(200);
    control.leave();
    await world.close();
    expect(counted()).toEqual([]);
  });
});
