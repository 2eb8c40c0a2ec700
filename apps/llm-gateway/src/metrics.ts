import { Counter, createMetrics, Gauge, Histogram, type Registry } from '@slipway/telemetry/http';

export interface GatewayMetrics {
  readonly registry: Registry;
  readonly calls: Counter<'model' | 'outcome'>;
  readonly seconds: Histogram<'model'>;
  readonly firstByteSeconds: Histogram<'model'>;
  readonly tokensPerSecond: Histogram<'model'>;
  readonly attempts: Counter<'deployment' | 'outcome'>;
  readonly tokens: Counter<'model' | 'kind'>;
  readonly costUsd: Counter<'model'>;
  readonly refused: Counter<'code'>;
  readonly keyLookups: Counter<'result'>;
  readonly budgetStops: Counter<'kind'>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface GatewayGauges {
  /** Entries that wait for the ledger's database. */
  readonly pending: () => number;
  /** Calls that were sent and are not in the ledger. */
  readonly open: () => number;
}

export function createGatewayMetrics({ pending, open }: GatewayGauges): GatewayMetrics {
  const registry = createMetrics('llm-gateway');
  const registers = [registry];
  new Gauge({
    name: 'llm_ledger_pending',
    help: 'Calls not yet in the ledger',
    registers,
    collect() {
      this.set(pending());
    },
  });
  new Gauge({
    name: 'llm_calls_open',
    help: 'Calls sent to a model and not yet in the ledger: settled as estimated if this process died now',
    registers,
    collect() {
      this.set(open());
    },
  });
  const budgetStops = new Counter({
    name: 'budget_stops_total',
    help: 'Calls ended by a budget; kind is limit (of the conversation), budget (of organization, user or key) or answer (cut off in the middle)',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of ['limit', 'budget', 'answer']) budgetStops.inc({ kind }, 0);
  return {
    registry,
    budgetStops,
    calls: new Counter({
      name: 'llm_calls_total',
      help: 'Calls sent to a model; outcome is ok, aborted or the code of the failure',
      labelNames: ['model', 'outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'llm_call_duration_seconds',
      help: 'Time from the request to the end of the answer',
      labelNames: ['model'],
      buckets: SECONDS,
      registers,
    }),
    firstByteSeconds: new Histogram({
      name: 'llm_call_first_byte_seconds',
      help: 'Time from the request to the first byte of the answer',
      labelNames: ['model'],
      buckets: SECONDS,
      registers,
    }),
    tokensPerSecond: new Histogram({
      name: 'llm_call_tokens_per_second',
      help: 'Completion tokens a second of a whole stream, from its first byte on',
      labelNames: ['model'],
      buckets: [5, 10, 20, 40, 60, 80, 100, 150, 200, 400, 1000],
      registers,
    }),
    attempts: new Counter({
      name: 'llm_attempts_total',
      help: 'Attempts at a deployment; outcome is ok, aborted or the code of the failure. One call makes up to three attempts',
      labelNames: ['deployment', 'outcome'],
      registers,
    }),
    tokens: new Counter({
      name: 'llm_tokens_total',
      help: 'Tokens; kind is prompt, cached (a part of prompt) or completion',
      labelNames: ['model', 'kind'],
      registers,
    }),
    costUsd: new Counter({
      name: 'llm_cost_usd_total',
      help: 'Cost where the price is known',
      labelNames: ['model'],
      registers,
    }),
    refused: new Counter({
      name: 'llm_requests_refused_total',
      help: 'Requests that reached no model',
      labelNames: ['code'],
      registers,
    }),
    keyLookups: new Counter({
      name: 'llm_key_lookups_total',
      help: 'Key lookups in the database',
      labelNames: ['result'],
      registers,
    }),
  };
}
