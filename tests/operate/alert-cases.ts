/** Series in promtool's notation (`start+step x times`), one value a minute. */
type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly fires: Series;
  /** Minutes after the first value at which it fires. */
  readonly at: number;
  /** How many of it. */
  readonly count?: number;
  /** Near it, and not enough. */
  readonly quiet: Series;
}

const APPS = ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'sandbox-gateway', 'web'];
const up = (...down: string[]): Series =>
  Object.fromEntries(
    APPS.flatMap((app) =>
      ['a', 'b'].map((instance) => [
        `up{job="r-slipway-${app}", instance="${app}-${instance}"}`,
        down.includes(app) ? '0x60' : '1x60',
      ]),
    ),
  );
const requests = (status: string, each: number): Series => ({
  [`http_request_duration_seconds_count{job="r-slipway-app-server", route="/api/v1/orgs/:org/conversations", status="${status}"}`]: `0+${each}x60`,
});
const startsThatFailed = 'conversations_ended_total{result="start-failed", trigger="user"}';
/** Sixty a minute, so many of them in time. */
const firstEvents = (inTime: number): Series => ({
  conversation_first_event_seconds_count: '0+60x60',
  'conversation_first_event_seconds_bucket{le="5"}': `0+${inTime}x60`,
});
const apiFailures = Object.keys(requests('500', 0))[0] ?? '';
const modelCalls = 'llm_calls_total{model="m", outcome="ok"}';
const providerFailures = 'llm_calls_total{model="m", outcome="model.unavailable"}';
/** All observations in the bucket that ends at `le`. */
const bucket = (name: string, le: string, others: readonly string[], labels = ''): Series =>
  Object.fromEntries(
    [...others, '+Inf'].map((bound) => [
      `${name}_bucket{${labels}le="${bound}"}`,
      bound === '+Inf' || Number(bound) >= Number(le) ? '0+60x60' : '0x60',
    ]),
  );

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  // The third app has no target at all.
  SlipwayAppDown: {
    fires: Object.fromEntries(Object.entries(up('worker')).filter(([name]) => !name.includes('runtime-api'))),
    at: 2,
    count: 2,
    quiet: { ...up(), 'up{job="r-slipway-worker", instance="worker-a"}': '0x60' },
  },
  SlipwayReplicaDown: {
    fires: { ...up(), 'up{job="r-slipway-web", instance="web-a"}': '0x60' },
    at: 11,
    quiet: { ...up(), 'up{job="r-slipway-web", instance="web-a"}': '0x8 1x52' },
  },
  SlipwayNotReady: {
    fires: { 'http_request_duration_seconds_count{job="r-slipway-worker", route="/ready", status="503"}': '0+6x60' },
    at: 5,
    quiet: { 'http_request_duration_seconds_count{job="r-slipway-worker", route="/ready", status="200"}': '0+6x60' },
  },
  SlipwayRestarting: {
    fires: { 'process_start_time_seconds{job="r-slipway-worker", instance="a"}': '0+300x60' },
    at: 10,
    quiet: { 'process_start_time_seconds{job="r-slipway-worker", instance="a"}': '0x5 100x5 200x5 300x45' },
  },
  SlipwayServerErrors: {
    fires: { ...requests('200', 600), ...requests('500', 12) },
    at: 11,
    quiet: { ...requests('200', 600), ...requests('500', 3), ...requests('404', 90) },
  },
  SlipwayEventLoopBlocked: {
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="j", instance="a"}': '0.8x60' },
    at: 6,
    quiet: { 'nodejs_eventloop_lag_p99_seconds{job="j", instance="a"}': '0.2x60' },
  },
  SlipwayStartsWaiting: {
    fires: {
      'outbox_oldest_seconds{queue="conversation-start", instance="a"}': '0+60x60',
      'outbox_oldest_seconds{queue="conversation-start", instance="b"}': '0+60x60',
    },
    at: 19,
    quiet: {
      'outbox_oldest_seconds{queue="conversation-start"}': '600x60',
      'outbox_oldest_seconds{queue="conversation-snapshot"}': '1200x60',
    },
  },
  SlipwayPausesWaiting: {
    fires: { 'outbox_oldest_seconds{queue="conversation-pause"}': '0+60x60' },
    at: 34,
    quiet: { 'outbox_oldest_seconds{queue="conversation-pause"}': '1200x60' },
  },
  // The second one stops for good; retention is due every ten minutes, hooks every five.
  SlipwaySweepStopped: {
    fires: {
      'sweep_age_seconds{sweep="recovery", instance="a"}': '1x60',
      'sweep_age_seconds{sweep="usage", instance="a"}': '0+60x60',
    },
    at: 6,
    quiet: {
      'sweep_age_seconds{sweep="usage"}': '60x60',
      'sweep_age_seconds{sweep="retention"}': '600x60',
      'sweep_age_seconds{sweep="hooks"}': '300x60',
    },
  },
  SlipwayStorageFull: {
    fires: { 'storage_full_organizations{instance="a"}': '2x60', 'storage_full_organizations{instance="b"}': '2x60' },
    at: 16,
    quiet: { storage_full_organizations: '1x10 0x50' },
  },
  SlipwayStorageMiscounted: {
    fires: { 'storage_corrected_bytes_total{instance="a"}': '0+100000x300' },
    at: 140,
    // The first count after an upgrade, and little.
    quiet: {
      'storage_corrected_bytes_total{instance="a"}': '0+10000000x20 200000000x280',
      'storage_corrected_bytes_total{instance="b"}': '0+5000x300',
    },
  },
  SlipwayConversationsLost: {
    fires: { 'conversations_lease_over{instance="a"}': '3x60', 'conversations_lease_over{instance="b"}': '3x60' },
    at: 4,
    quiet: { conversations_lease_over: '1 1 0 1 1 0 1 1 0x53' },
  },
  SlipwayIngestSlow: {
    fires: bucket('ingest_batch_seconds', '2', ['0.01', '0.5', '2']),
    at: 11,
    quiet: bucket('ingest_batch_seconds', '0.01', ['0.01', '0.5', '2']),
  },
  SlipwayIngestRefused: {
    fires: { 'ingest_refused_total{code="ingest.stale-epoch"}': '0+120x60' },
    at: 16,
    quiet: { 'ingest_refused_total{code="ingest.stale-epoch"}': '0+30x60' },
  },
  SlipwaySocketsBehind: {
    fires: { 'realtime_unsent_bytes{instance="a"}': '100000000x60' },
    at: 6,
    quiet: { 'realtime_unsent_bytes{instance="a"}': '1000000x60' },
  },
  SlipwayPoolEmpty: {
    fires: { 'pool_ready_slots{pool="standard-1"}': '0x60', 'pool_target_slots{pool="standard-1"}': '4x60' },
    at: 4,
    quiet: { 'pool_ready_slots{pool="standard-1"}': '0x60', 'pool_target_slots{pool="standard-1"}': '0x60' },
  },
  SlipwayPoolsUnled: {
    fires: { 'pool_lead_age_seconds{instance="a"}': '0+60x60', 'pool_lead_age_seconds{instance="b"}': '0+60x60' },
    at: 5,
    quiet: { pool_lead_age_seconds: '0+60x2 5x57' },
  },
  SlipwayPoolProblem: {
    fires: { 'pool_problem{pool="standard-1", code="sandbox.unschedulable", instance="a"}': '1x60' },
    at: 6,
    quiet: { 'pool_problem{pool="standard-1", code="sandbox.unschedulable"}': '1x3 stale' },
  },
  // The store alone, before any workspace had to be kept.
  SlipwayWorkspacesNotKept: {
    fires: { 'workspaces_not_kept{pool="standard-1"}': '0x60', 'workspace_store_problem{instance="a"}': '1x60' },
    at: 3,
    quiet: { 'workspaces_not_kept{pool="standard-1"}': '2 0x60', 'workspace_store_problem{instance="a"}': '0x60' },
  },
  SlipwayWorkspacesLost: {
    fires: { 'workspaces_lost{pool="standard-1", instance="a"}': '1x60' },
    at: 1,
    quiet: { 'workspaces_lost{pool="standard-1", instance="a"}': '0x60' },
  },
  SlipwayClaimsSlow: {
    fires: bucket('pool_claim_duration_seconds', '5', ['0.1', '1', '5']),
    at: 21,
    quiet: bucket('pool_claim_duration_seconds', '0.1', ['0.1', '1', '5']),
  },
  SlipwayActivationsFailing: {
    fires: { 'pool_claim_total{result="bound"}': '0+60x60', 'pool_claim_total{result="activation-failed"}': '0+6x60' },
    at: 21,
    quiet: { 'pool_claim_total{result="bound"}': '0+60x60', 'pool_claim_total{result="activation-failed"}': '0+1x60' },
  },
  SlipwayModelErrors: {
    fires: {
      'llm_calls_total{model="m", outcome="ok"}': '0+60x60',
      'llm_calls_total{model="m", outcome="model.unavailable"}': '0+12x60',
    },
    at: 11,
    quiet: {
      'llm_calls_total{model="m", outcome="ok"}': '0+60x60',
      'llm_calls_total{model="m", outcome="aborted"}': '0+60x60',
    },
  },
  SlipwayModelSlow: {
    fires: bucket('llm_call_first_byte_seconds', '300', ['10', '60', '300'], 'model="m", '),
    at: 21,
    quiet: bucket('llm_call_first_byte_seconds', '10', ['10', '60', '300'], 'model="m", '),
  },
  SlipwayLedgerBehind: {
    fires: {
      'llm_ledger_pending{job="j", instance="a"}': '0 3x60',
      'llm_calls_total{job="j", instance="a"}': '0+6x60',
    },
    at: 17,
    quiet: {
      'llm_ledger_pending{job="j", instance="a"}': '20x60',
      'llm_calls_total{job="j", instance="a"}': '0+600x60',
    },
  },
  SlipwayUnknownKeys: {
    fires: { 'llm_key_lookups_total{result="unknown"}': '0+120x60' },
    at: 21,
    quiet: { 'llm_key_lookups_total{result="unknown"}': '0+6x60' },
  },
  SlipwaySandboxGatewayFailing: {
    fires: {
      'sandbox_gateway_requests_total{kind="http", outcome="ok"}': '0+60x60',
      'sandbox_gateway_requests_total{kind="http", outcome="sandbox.unreachable"}': '0+12x60',
    },
    at: 11,
    quiet: {
      'sandbox_gateway_requests_total{kind="http", outcome="ok"}': '0+60x60',
      'sandbox_gateway_requests_total{kind="http", outcome="sandbox.paused"}': '0+60x60',
    },
  },
  SlipwayCredentialSentBack: {
    fires: { 'credential_reflected_total{instance="a"}': '0x5 1x55' },
    at: 7,
    // The counter of a process that was there before.
    quiet: { 'credential_reflected_total{instance="a"}': '1x60' },
  },
  SlipwayBrokerUndecided: {
    fires: {
      'broker_requests_total{outcome="passed"}': '0+60x60',
      'broker_requests_total{outcome="undecided"}': '0+12x60',
    },
    at: 11,
    quiet: {
      'broker_requests_total{outcome="passed"}': '0+60x60',
      'broker_requests_total{outcome="misplaced"}': '0+60x60',
      'broker_requests_total{outcome="undecided"}': '0+3x60',
    },
  },
  SlipwayApiBudgetFast: {
    // 2 % of the requests: twenty times what thirty days allow.
    fires: { ...requests('200', 588), ...requests('500', 12) },
    at: 61,
    // As many, and for ten minutes only: the hour has too few.
    quiet: { ...requests('200', 600), [apiFailures]: '0x40 0+12x10 120x50' },
  },
  SlipwayApiBudgetSlow: {
    fires: { ...requests('200', 595), ...requests('500', 5) },
    at: 61,
    // Half of what thirty days allow.
    quiet: { ...requests('200', 6000), ...requests('500', 3) },
  },
  SlipwayModelCallsBudgetFast: {
    fires: { [modelCalls]: '0+600x60', 'llm_requests_refused_total{code="service.unavailable"}': '0+12x60' },
    at: 61,
    // Of the provider, of a budget.
    quiet: {
      [modelCalls]: '0+600x60',
      [providerFailures]: '0+60x60',
      'llm_requests_refused_total{code="budget.exhausted"}': '0+60x60',
    },
  },
  SlipwayModelCallsBudgetSlow: {
    fires: { [modelCalls]: '0+600x60', 'llm_calls_total{model="m", outcome="internal.unexpected"}': '0+5x60' },
    at: 61,
    quiet: { [modelCalls]: '0+6000x60', 'llm_calls_total{model="m", outcome="internal.unexpected"}': '0+3x60' },
  },
  SlipwayFirstEventBudgetFast: {
    // A fifth of them later than five seconds, or never.
    fires: { ...firstEvents(48), [startsThatFailed]: '0+3x60' },
    at: 61,
    quiet: { ...firstEvents(58), [startsThatFailed]: '0x60' },
  },
  SlipwayFirstEventBudgetSlow: {
    fires: { ...firstEvents(60), [startsThatFailed]: '0+5x60' },
    at: 61,
    quiet: { ...firstEvents(60), [startsThatFailed]: '0x60' },
  },
  SlipwayEventsBudgetFast: {
    fires: { event_delivery_seconds_count: '0+1000x60', 'event_delivery_seconds_bucket{le="1.0"}': '0+980x60' },
    at: 61,
    quiet: { event_delivery_seconds_count: '0+1000x60', 'event_delivery_seconds_bucket{le="1"}': '0+995x60' },
  },
  SlipwayEventsBudgetSlow: {
    fires: { event_delivery_seconds_count: '0+1000x60', 'event_delivery_seconds_bucket{le="1"}': '0+993x60' },
    at: 61,
    quiet: { event_delivery_seconds_count: '0+1000x60', 'event_delivery_seconds_bucket{le="1"}': '0+999x60' },
  },
};
