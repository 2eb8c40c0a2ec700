import { Inject, Injectable } from '@nestjs/common';
import {
  type GatewayDeployment,
  GatewayDeploymentList,
  GatewayDeploymentTest,
  type ModelDeployment,
  type ModelDeploymentList,
  type ModelDeploymentTest,
} from '@slipway/contracts/models';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';

/** Longest wait for the gateway, and for the model behind it, which it gives 30 s. Milliseconds. */
const LIST_MS = 3_000;
const TEST_MS = 35_000;

/** How the places that answer to models fare, and a call to one of them on demand. */
@Injectable()
export class ModelHealthService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
  ) {}

  /** @throws SlipwayError `service.unavailable`. */
  async list(): Promise<ModelDeploymentList> {
    const { data } = await this.ask(GatewayDeploymentList, 'GET', '/internal/deployments', LIST_MS);
    const now = this.clock.now();
    return { data: data.map((deployment) => shownOf(deployment, now)), asOf: now.toISOString() };
  }

  /** @throws SlipwayError `resource.not-found`, `rate.limited` after six in a minute, `service.unavailable`. */
  async test(caller: Principal, id: string): Promise<ModelDeploymentTest> {
    const result = await this.ask(
      GatewayDeploymentTest,
      'POST',
      `/internal/deployments/${encodeURIComponent(id)}/test`,
      TEST_MS,
    );
    const { elapsed_ms: elapsedMs } = result;
    await inOrg(this.pool, caller.orgId, (client) =>
      client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'model-deployment.test',
          target: id,
          detail: result.ok ? { ok: true, elapsedMs } : { ok: false, elapsedMs, code: result.code },
        }),
      ),
    );
    return result.ok
      ? {
          ok: true,
          elapsedMs,
          promptTokens: result.prompt_tokens,
          completionTokens: result.completion_tokens,
          failure: null,
        }
      : {
          ok: false,
          elapsedMs,
          promptTokens: null,
          completionTokens: null,
          failure: { code: result.code, detail: result.detail },
        };
  }

  private async ask<T extends z.ZodType>(
    schema: T,
    method: 'GET' | 'POST',
    path: string,
    withinMs: number,
  ): Promise<z.output<T>> {
    try {
      const response = await fetch(new URL(path, this.config.LLM_GATEWAY_URL), {
        method,
        headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}` },
        signal: AbortSignal.timeout(withinMs),
      });
      if (response.ok) return schema.parse(await response.json());
      await response.body?.cancel();
      if (response.status === 404) throw notFound();
      if (response.status === 429)
        throw new SlipwayError('rate.limited', 'This place was tested often enough for now.', {
          retryAfterSeconds: Number(response.headers.get('retry-after')) || 10,
        });
      throw new Error(`llm-gateway answered ${response.status}`);
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      throw new SlipwayError('service.unavailable', 'The model gateway does not answer.', {
        cause: error,
        retryAfterSeconds: 3,
      });
    }
  }
}

function shownOf(deployment: GatewayDeployment, now: Date): ModelDeployment {
  const { id, model, provider, region, state, calls, failures } = deployment;
  const shifted = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString();
  const { last_failure: last } = deployment;
  return {
    id,
    model,
    provider,
    providerModel: deployment.provider_model,
    region,
    state,
    openUntil: deployment.open_for === 0 ? null : shifted(deployment.open_for),
    coolsDown: deployment.cools_down,
    inFlight: deployment.in_flight,
    calls,
    failures,
    firstTokenMs: deployment.first_byte_p50_ms,
    lastFailure: last === null ? null : { code: last.code, at: shifted(-last.seconds_ago) },
  };
}
