import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { exampleDelivery, exampleProvider } from '@slipway/integrations/testing';
import fc from 'fast-check';
import { featuresWith } from '../../app.module.js';
import { ConversationApp } from '../../testing/conversation-app.js';

const CONNECTIONS = 2;
const REPLICAS = 3;

describe('intake over three app-servers', () => {
  let app: ConversationApp;
  const hooks: Array<{ id: string; path: string; secret: string }> = [];
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: REPLICAS, features: featuresWith([exampleProvider]) });
    for (let index = 0; index < CONNECTIONS; index += 1) {
      const owner = await app.user();
      const answer = await app.http<ConnectionWithSecret>(
        owner,
        'POST',
        `/api/v1/orgs/${owner.orgId}/integrations/connections`,
        {
          provider: 'example',
          name: 'n',
        },
      );
      const { connection, webhookSecret } = answer.body;
      hooks.push({ id: connection.id, path: new URL(connection.address ?? '').pathname, secret: webhookSecret ?? '' });
    }
  });
  afterAll(() => app?.close());

  it('whatever is repeated, forged and interleaved: each delivery that held has one row and one job, and nothing else has any', async () => {
    const send = fc.record({
      delivery: fc.nat(4),
      hook: fc.nat(CONNECTIONS - 1),
      replica: fc.nat(REPLICAS - 1),
      // With the other tenant's secret, and without any.
      signer: fc.constantFrom('own' as const, 'own' as const, 'own' as const, 'other' as const, 'nobody' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(send, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        async (waves) => {
          const round = randomUUID();
          const held = new Set<string>();
          for (const wave of waves)
            await Promise.all(
              wave.map(async ({ delivery, hook, replica, signer }) => {
                const { path, secret } = hooks[hook] as (typeof hooks)[0];
                const other = hooks[(hook + 1) % CONNECTIONS]?.secret ?? '';
                const signed = exampleDelivery(
                  { own: secret, other, nobody: 'nobody' }[signer],
                  { text: `${delivery}` },
                  `${round} ${delivery}`,
                );
                const { status } = await fetch(`${app.replicas[replica]?.url}${path}`, { method: 'POST', ...signed });
                expect(status).toBe(signer === 'own' ? 200 : 401);
                if (signer === 'own') held.add(`${hook} ${delivery}`);
              }),
            );
          const { rows } = await app.owner.query<{ connection_id: string; delivery_id: string; jobs: number }>(
            `SELECT connection_id, delivery_id, (SELECT count(*)::int FROM app.outbox o WHERE o.queue = 'integration-delivery' AND o.key = d.id) AS jobs
           FROM app.integration_delivery d WHERE delivery_id LIKE $1`,
            [`${round} %`],
          );
          const kept = rows.map(
            (row) => `${hooks.findIndex(({ id }) => id === row.connection_id)} ${row.delivery_id.slice(-1)}`,
          );
          expect(kept.sort()).toEqual([...held].sort());
          expect(rows.every(({ jobs }) => jobs === 1)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  }, 300_000);
});
