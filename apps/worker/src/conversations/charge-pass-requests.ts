import type { ChargePass } from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { system } from './conversation.queries.js';

const BATCH = 50;
/** An older pass is useless: sandbox-gateway has given up. Seconds. */
const STALE_SECONDS = 60;

/**
 * Hands passes that sandbox-gateway has written down to llm-gateway, then deletes the rows. Repeatable: a pass that is
 * handed over twice counts once.
 */
export class ChargePassRequests {
  constructor(
    private readonly pool: SqlPool,
    private readonly gateway: Pick<LlmGatewayClient, 'putChargePass'>,
    private readonly logger: Logger,
  ) {}

  /** One that fails is repeated in the next round. Rejects when the database does not answer. */
  async tell(signal: AbortSignal): Promise<void> {
    const requests = await this.read();
    const sent = await Promise.all(
      requests.map(async (request) => {
        try {
          await this.gateway.putChargePass(request, signal);
          return request.sha256;
        } catch (error) {
          if (!signal.aborted)
            this.logger.warn(
              { err: error, conversation_id: request.conversation },
              'charge pass not acknowledged by llm-gateway, will retry',
            );
          return null;
        }
      }),
    );
    const done = sent.filter((each) => each !== null);
    if (done.length > 0) await this.remove(done);
  }

  private read(): Promise<ChargePass[]> {
    return system(this.pool, 'charge passes', async (client) => {
      const { rows } = await client.query<ChargePass & { stale: boolean }>(
        `SELECT encode(hash, 'hex') AS sha256, org_id AS org, conversation_id AS conversation, user_id AS user, user_label AS "userLabel",
           made_at < now() - $2 * interval '1 second' AS stale
         FROM app.charge_pass_request ORDER BY made_at DESC LIMIT $1`,
        [BATCH, STALE_SECONDS],
      );
      if (rows.some(({ stale }) => stale))
        await client.query(`DELETE FROM app.charge_pass_request WHERE made_at < now() - $1 * interval '1 second'`, [
          STALE_SECONDS,
        ]);
      return rows.filter(({ stale }) => !stale).map(({ stale: _, ...request }) => request);
    });
  }

  private remove(hashes: readonly string[]): Promise<unknown> {
    return system(this.pool, 'charge passes', (client) =>
      client.query(`DELETE FROM app.charge_pass_request WHERE encode(hash, 'hex') = ANY ($1::text[])`, [hashes]),
    );
  }
}
