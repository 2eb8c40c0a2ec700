import type { Objective } from './alert.ts';
import { NOT_PROBES } from './apps.ts';
import { orZero, plus, rate } from './query.ts';

const api = { job: { app: ['app-server'] }, ...NOT_PROBES } as const;
/** What we answer for: the provider's failures, a key's and a budget's refusals are not. */
const OURS = { in: ['service.unavailable', 'internal.unexpected'] } as const;

export const OBJECTIVES: readonly Objective[] = [
  {
    name: 'api',
    title: 'Requests to the API that are answered without an error of ours',
    description: 'Requests to app-server, without probes, that are not answered with 5xx.',
    target: 0.999,
    alert: 'SlipwayApiBudget',
    total: (window) => rate('http_request_duration_seconds_count', { where: api, window }),
    bad: (window) => rate('http_request_duration_seconds_count', { where: { ...api, status: { starts: '5' } }, window }),
  },
  {
    name: 'model-calls',
    title: 'Model calls that do not fail because of us',
    description: 'Calls of agents to llm-gateway that neither it, its database nor its ledger made fail. What a provider answers does not count.',
    target: 0.999,
    alert: 'SlipwayModelCallsBudget',
    total: (window) => plus(rate('llm_calls_total', { window }), orZero(rate('llm_requests_refused_total', { where: { code: OURS }, window }))),
    bad: (window) =>
      plus(
        orZero(rate('llm_requests_refused_total', { where: { code: OURS }, window })),
        orZero(rate('llm_calls_total', { where: { outcome: OURS }, window })),
      ),
  },
];
