import type { GatewayDeployment, GatewayDeploymentList, GatewayDeploymentTest } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bearerToken } from '../keys/master-key.js';
import type { Deployment } from './deployment.js';
import type { Dispatchers } from './dispatchers.js';
import type { ModelDirectory } from './model-directory.js';
import { DeploymentTests } from './test-deployment.js';

export interface DeploymentRoutesOptions {
  readonly models: ModelDirectory;
  readonly dispatchers: Dispatchers;
  readonly isMasterKey: (given: string | null) => boolean;
}

/**
 * How the places that answer to models fare, as this replica sees it, for who runs the gateway. No address and no key
 * is shown.
 */
export function addDeploymentRoutes(
  fastify: FastifyInstance,
  { models, dispatchers, isMasterKey }: DeploymentRoutesOptions,
): void {
  const tests = new DeploymentTests(dispatchers);
  const requireMasterKey = (request: FastifyRequest): void => {
    if (!isMasterKey(bearerToken(request.headers.authorization)))
      throw new SlipwayError('auth.missing', 'This route wants the master key.');
  };
  fastify.get('/internal/deployments', async (request): Promise<GatewayDeploymentList> => {
    requireMasterKey(request);
    const now = performance.now();
    return {
      data: models.offered.flatMap(({ group }) =>
        group.deployments.map((deployment) => healthOf(group.name, deployment, now)),
      ),
    };
  });
  /**
   * One short call, charged by the provider and to no budget here: it tests the installation, and callers without a
   * budget may run it, too. Ids hold slashes.
   */
  fastify.post('/internal/deployments/*', async (request): Promise<GatewayDeploymentTest> => {
    requireMasterKey(request);
    const wanted = (request.params as { '*': string })['*'];
    const id = wanted.endsWith('/test') ? decodeURIComponent(wanted.slice(0, -'/test'.length)) : null;
    const deployment = models.offered.flatMap(({ group }) => group.deployments).find((one) => one.id === id);
    if (deployment === undefined) throw new SlipwayError('resource.not-found', 'There is no such deployment.');
    return tests.run(deployment, performance.now());
  });
}

function healthOf(model: string, deployment: Deployment, now: number): GatewayDeployment {
  const { id, target, weight, inFlight, latencyMs, calls, failures, lastFailure, openUntil, firstBytes, coolsDown } =
    deployment;
  return {
    id,
    model,
    provider: target.provider,
    provider_model: target.model,
    region: target.region ?? null,
    weight,
    state: deployment.state(now),
    /** Seconds until it is asked again. */
    open_for: openUntil <= now ? 0 : Math.ceil((openUntil - now) / 1000),
    cools_down: coolsDown && openUntil > now,
    in_flight: inFlight,
    calls,
    failures,
    first_byte_ms: latencyMs === null ? null : Math.round(latencyMs),
    first_byte_p50_ms: firstBytes.median(),
    last_failure:
      lastFailure === null
        ? null
        : {
            code: lastFailure.code,
            detail: lastFailure.detail,
            seconds_ago: Math.round((now - lastFailure.at) / 1000),
          },
  };
}
