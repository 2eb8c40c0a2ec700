import type { Objective } from './alert.ts';
import { NOT_PROBES } from './apps.ts';
import { minus, orZero, plus, type Query, rate, within } from './query.ts';

type Window = Parameters<Objective['total']>[0];

const api = { job: { app: ['app-server'] }, ...NOT_PROBES } as const;
/** What we answer for: the provider's failures, a key's and a budget's refusals are not. */
const CODES = ['service.unavailable', 'internal.unexpected'] as const;
const OURS = { in: CODES } as const;
/** Of those that answer for themselves how long they took. */
const slow = (total: (window: Window) => Query, metric: string, bound: number) => (window: Window) =>
  minus(total(window), within(bound, metric, { window }));

const starts = (window: Window): Query =>
  plus(
    rate('conversation_first_event_seconds_count', { window }),
    // One that fails never speaks.
    orZero(rate('conversations_ended_total', { where: { result: 'start-failed' }, window })),
  );
const deliveries = (window: Window): Query => rate('event_delivery_seconds_count', { window });

export const OBJECTIVES: readonly Objective[] = [
  {
    name: 'first-event',
    title: 'Conversations whose first event comes within five seconds',
    short: 'First event within 5 s',
    description:
      'Time from the creation of a conversation to the first event of its sandbox in the log. A start that fails is a late one; one whose repository or setup script is at fault does not count.',
    target: 0.99,
    alert: 'SlipwayFirstEventBudget',
    total: starts,
    bad: slow(starts, 'conversation_first_event_seconds', 5),
    good: (window) => within(5, 'conversation_first_event_seconds', { window }),
  },
  {
    name: 'api',
    title: 'Requests to the API that are answered without an error of ours',
    short: 'API without 5xx',
    description: 'Requests to app-server, without probes, that are not answered with 5xx.',
    target: 0.999,
    alert: 'SlipwayApiBudget',
    total: (window) => rate('http_request_duration_seconds_count', { where: api, window }),
    bad: (window) =>
      orZero(rate('http_request_duration_seconds_count', { where: { ...api, status: { starts: '5' } }, window })),
    good: (window) =>
      rate('http_request_duration_seconds_count', { where: { ...api, status: { startsNot: '5' } }, window }),
  },
  {
    name: 'events-on-screen',
    title: 'Events that are sent to their readers within a second',
    short: 'Events sent within 1 s',
    description:
      'From the commit of events to their going out to sockets and streams: what a browser then takes is not in it.',
    target: 0.999,
    alert: 'SlipwayEventsBudget',
    total: deliveries,
    bad: slow(deliveries, 'event_delivery_seconds', 1),
    good: (window) => within(1, 'event_delivery_seconds', { window }),
  },
  {
    name: 'model-calls',
    title: 'Model calls that do not fail because of us',
    short: 'Model calls without our errors',
    description:
      'Calls of agents to llm-gateway that neither it, its database nor its ledger made fail. What a provider answers does not count.',
    target: 0.999,
    alert: 'SlipwayModelCallsBudget',
    total: (window) =>
      plus(
        rate('llm_calls_total', { window }),
        orZero(rate('llm_requests_refused_total', { where: { code: OURS }, window })),
      ),
    good: (window) => rate('llm_calls_total', { where: { outcome: { not: CODES } }, window }),
    bad: (window) =>
      plus(
        orZero(rate('llm_requests_refused_total', { where: { code: OURS }, window })),
        orZero(rate('llm_calls_total', { where: { outcome: OURS }, window })),
      ),
  },
];
