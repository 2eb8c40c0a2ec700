import { ModelDeploymentList, ModelDeploymentTest } from '../models/model-health.js';
import type { Operation } from './operation.js';

const DEPLOYMENTS = '/api/v1/orgs/{org}/model-deployments';

/**
 * How the places that answer to the installation's models fare. Who may see the models may see it; a test costs the
 * installation money, so that it is an admin's.
 */
export const modelHealthOperations = {
  listModelDeployments: {
    id: 'model-deployments.list',
    method: 'GET',
    path: DEPLOYMENTS,
    summary: 'Places that answer to the models of this installation, and how they fare',
    permission: 'setting:read',
    status: 200,
    response: ModelDeploymentList,
    idempotency: 'idempotent',
    errors: [],
  },
  testModelDeployment: {
    id: 'model-deployments.test',
    method: 'POST',
    path: `${DEPLOYMENTS}/{deployment}/test`,
    summary:
      'Ask one for a word. Who runs the installation pays for it, no budget counts it; at most six times a minute for all together',
    permission: 'setting:write',
    status: 200,
    response: ModelDeploymentTest,
    idempotency: 'none',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
