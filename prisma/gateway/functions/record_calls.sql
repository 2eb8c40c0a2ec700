-- p_begun: ledger rows as JSON, with the replica in `replica`. p_ended: calls whose own row is in the ledger.
-- Commits asynchronously: a crash of Postgres loses up to 0.6 s of it, and the gateway still has those calls in
-- memory.
CREATE OR REPLACE FUNCTION gateway.record_calls(p_begun jsonb, p_ended uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO gateway.open_call (id, org_id, replica, entry)
    SELECT (e->>'id')::uuid, e->>'org_id', (e->>'replica')::uuid, e - 'replica' FROM jsonb_array_elements(p_begun) e
  ON CONFLICT (id) DO NOTHING;
  DELETE FROM gateway.open_call c WHERE c.id = ANY (p_ended);
END $$;
