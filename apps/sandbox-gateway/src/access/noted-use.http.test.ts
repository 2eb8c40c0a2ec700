import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Grant, TestGateway } from '../testing/test-gateway.js';

/** As a pod's: ports of apps are never reached on loopback. */
const ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && each.family === 'IPv4' && !each.internal)?.address;

describeUnless(ADDRESS === undefined && 'this machine has no address beside loopback')(
  'the use of ports through the gateway',
  () => {
    let gateway: TestGateway;
    let app: Server;
    let port: number;
    const connected = new Set<WebSocket>();
    const usedAt = async (grant: Grant): Promise<Date | null> =>
      (await gateway.owner.query('SELECT used_at FROM app.sandbox_grant WHERE id = $1', [grant.id])).rows[0]?.used_at ??
      null;
    const isNoted = (grant: Grant): Promise<Date> => until('its use is noted', () => usedAt(grant), 20_000);
    const open = (): Promise<Grant> => gateway.grant(port);
    const bearer = (grant: Grant): Record<string, string> => ({ authorization: `Bearer ${grant.token}` });

    beforeAll(async () => {
      app = createServer((_request, response) => void response.end('an app'));
      const sockets = new WebSocketServer({ server: app });
      sockets.on('connection', (socket) => connected.add(socket));
      await new Promise<void>((resolve) => app.listen(0, ADDRESS, resolve));
      port = (app.address() as AddressInfo).port;
      gateway = await TestGateway.start({ SANDBOX_BACKEND: 'kubernetes' });
      gateway.runtimeApi.answer = () => ({ url: `http://${ADDRESS}:8000` });
    });
    afterAll(async () => {
      await gateway?.close();
      app?.closeAllConnections();
      await new Promise((resolve) => app?.close(resolve));
    });

    it('is noted with the access that it goes through, and with no other', async () => {
      const [used, other] = [await open(), await open()];
      expect(await gateway.ask(used)).toMatchObject({ status: 200, text: 'an app' });
      const at = await isNoted(used);
      expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(15_000);
      expect(await usedAt(other)).toBeNull();
    });

    it('is noted of sockets on which their clients speak, whichever way these came in, and not of those that are silent or only listen', async () => {
      const grants = await Promise.all(Array.from({ length: 4 }, open));
      const [speaks, silent, listens, late] = grants as [Grant, Grant, Grant, Grant];
      const sockets = await Promise.all(
        [speaks, silent, listens].map((grant) => gateway.socket(grant.host, '/ws', bearer(grant))),
      );
      const firstFrame = await gateway.socket(late.host, '/sockets/ws');
      firstFrame.send(JSON.stringify({ type: 'auth', session_api_key: late.token }));
      await Promise.all(grants.map(isNoted));
      await gateway.owner.query('UPDATE app.sandbox_grant SET used_at = NULL WHERE id = ANY ($1)', [
        grants.map(({ id }) => id),
      ]);
      gateway.ahead.ms += 61_000;
      sockets[0]?.send('hello');
      firstFrame.send('hello');
      sockets[1]?.ping();
      for (const each of connected) if (each.readyState === each.OPEN) each.send('what the app says by itself');
      await Promise.all([isNoted(speaks), isNoted(late)]);
      expect([await usedAt(silent), await usedAt(listens)]).toEqual([null, null]);
      for (const socket of [...sockets, firstFrame]) socket.terminate();
    });

    it('costs no request when the database takes no note, and is noted when it does again', async () => {
      const [grant, other] = [await open(), await open()];
      await gateway.owner.query('REVOKE UPDATE (used_at) ON app.sandbox_grant FROM slipway_sandbox');
      const refused = async (): Promise<number> =>
        Number(
          /^sandbox_gateway_use_not_noted_total(?:{.*})? (\d+)$/m.exec(
            await (await fetch(`${gateway.metricsUrl}/metrics`)).text(),
          )?.[1],
        );
      const before = await refused();
      expect((await gateway.ask(grant)).status).toBe(200);
      await until('the database has refused it', async () => (await refused()) > before);
      expect([(await gateway.ask(grant)).status, (await gateway.ask(other)).status, await usedAt(grant)]).toEqual([
        200,
        200,
        null,
      ]);
      await gateway.owner.query('GRANT UPDATE (used_at) ON app.sandbox_grant TO slipway_sandbox');
      await Promise.all([isNoted(grant), isNoted(other)]);
    });
  },
);
