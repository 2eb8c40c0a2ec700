-- slipway: expand-only
-- Calls under way, so that a call whose gateway dies is charged all the same: at the largest cost that was granted to it.

-- One row a call that was sent to a provider and is not in the ledger yet, from a few milliseconds after its beginning on; see apps/llm-gateway/src/ledger.
CREATE TABLE gateway.open_call (
  -- Of the row that it will have in the ledger.
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  -- The life of a gateway's process that sent it.
  replica uuid NOT NULL,
  recorded_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Columns of gateway.ledger as they are if nobody hears of its end.
  entry jsonb NOT NULL
);
CREATE INDEX open_call_replica_idx ON gateway.open_call (replica);
ALTER TABLE gateway.open_call ENABLE ROW LEVEL SECURITY;
ALTER TABLE gateway.open_call FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON gateway.open_call USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON gateway.open_call TO slipway_gateway_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.open_call TO slipway_gateway, slipway_gateway_system;

-- p_begun: rows of the ledger as JSON, with the replica in `replica`. p_ended: calls whose own row is in the ledger.
-- Without a flush: a Postgres that crashes loses up to 0.6 s of it, and the gateway still has those calls in its memory.
CREATE FUNCTION gateway.record_calls(p_begun jsonb, p_ended uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO gateway.open_call (id, org_id, replica, entry)
    SELECT (e->>'id')::uuid, e->>'org_id', (e->>'replica')::uuid, e - 'replica' FROM jsonb_array_elements(p_begun) e
  ON CONFLICT (id) DO NOTHING;
  DELETE FROM gateway.open_call c WHERE c.id = ANY (p_ended);
END $$;

-- Puts calls without an end into the ledger as they were granted. A call that is there already stays as it is. The caller holds what end_replicas holds.
-- A row that the ledger refuses for what it says is left out with a warning: it must not hold up the others for ever.
CREATE FUNCTION gateway.settle_open_calls(p_replicas uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE c gateway.open_call;
BEGIN
  FOR c IN DELETE FROM gateway.open_call o WHERE o.replica = ANY (p_replicas) RETURNING o.* LOOP
    BEGIN
      INSERT INTO gateway.ledger (
      id, org_id, conversation_id, key_id, user_id, repository, pull_request, integration, purpose, request_id, trace_id, model, deployment, attempts, prompt_tokens,
      completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, from_cache, usage_source, cost_usd, cost_known, status, error_code, streamed, started_at,
      first_byte_ms, latency_ms, holder, accounts)
      SELECT r.id, r.org_id, r.conversation_id, r.key_id, r.user_id, r.repository, r.pull_request, r.integration, r.purpose, r.request_id, r.trace_id, r.model,
      r.deployment, r.attempts, r.prompt_tokens, r.completion_tokens, r.cached_tokens, r.cache_write_tokens, r.reasoning_tokens, r.from_cache,
      r.usage_source, r.cost_usd, r.cost_known, r.status, r.error_code, r.streamed, r.started_at, r.first_byte_ms, r.latency_ms, r.holder, r.accounts
      FROM jsonb_populate_record(NULL::gateway.ledger, c.entry) r
      ON CONFLICT (id) DO NOTHING;
    EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
      RAISE WARNING 'call % is not settled: %: %', c.id, SQLERRM, c.entry;
    END;
  END LOOP;
END $$;

-- Charges the calls that replicas left under way and frees all else that they hold, in one commit.
CREATE OR REPLACE FUNCTION gateway.end_replicas(p_replicas uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  -- Whoever takes for one of them waits here or finds it gone.
  PERFORM 1 FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas) ORDER BY p.id FOR UPDATE;
  -- As every writer of the ledger: first its lock, then the accounts in their order.
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gateway.ledger', 0));
  PERFORM 1 FROM gateway.budget_account x WHERE x.id IN (
    SELECT l.account FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas)
    UNION
    SELECT a.id FROM gateway.open_call c
    CROSS JOIN LATERAL (VALUES ('org', ''), ('member', c.entry->>'user_id'), ('key', c.entry->>'key_id'), ('conversation', c.entry->>'conversation_id')) w(kind, subject)
    JOIN gateway.budget_account a ON a.org_id = c.org_id AND a.kind = w.kind AND a.subject = w.subject
    WHERE c.replica = ANY (p_replicas)
  ) ORDER BY x.id FOR UPDATE;
  PERFORM gateway.settle_open_calls(p_replicas);
  UPDATE gateway.budget_account x SET freed = x.freed + s.held
    FROM (SELECT l.account, sum(greatest(l.held, 0))::bigint AS held FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas) GROUP BY l.account) s WHERE x.id = s.account;
  PERFORM pg_notify('slipway_gateway', 'freed ' || l.account) FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas);
END $$;

-- Ends replicas that have not said for p_hold seconds that they live, those that were never heard of included, and forgets cycles that are long over.
CREATE OR REPLACE FUNCTION gateway.reap_replicas(p_hold double precision) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_dead uuid[];
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  SELECT array_agg(d.id) INTO v_dead FROM (
    SELECT p.id FROM gateway.budget_replica p WHERE p.beat_at < now() - p_hold * interval '1 second'
    UNION
    SELECT c.replica FROM gateway.open_call c
    WHERE c.recorded_at < now() - p_hold * interval '1 second' AND NOT EXISTS (SELECT 1 FROM gateway.budget_replica p WHERE p.id = c.replica)
  ) d;
  IF v_dead IS NOT NULL THEN PERFORM gateway.end_replicas(v_dead); END IF;
  DELETE FROM gateway.budget_account x WHERE x.cycle_end < now() - interval '40 days' AND NOT EXISTS (SELECT 1 FROM gateway.budget_lease l WHERE l.account = x.id);
END $$;
