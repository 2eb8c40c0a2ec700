-- Adds calls without an end to the ledger, at the amount that was granted. A call that is there already stays as it
-- is. The caller holds the locks of gateway.end_replicas.
-- A row that violates a constraint of the ledger is left out with a warning, so that it does not block the others for
-- ever.
CREATE OR REPLACE FUNCTION gateway.settle_open_calls(p_replicas uuid[]) RETURNS void
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
