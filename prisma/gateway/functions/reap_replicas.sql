-- Ends replicas whose last heartbeat is older than p_hold seconds, including those that never sent one, and deletes
-- cycles that ended long ago.
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
