-- Ids of calls that are recorded as under way at p_replica for longer than p_seconds; 1,000 at most.
CREATE OR REPLACE FUNCTION gateway.old_calls(p_replica uuid, p_seconds double precision) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  RETURN QUERY SELECT c.id FROM gateway.open_call c WHERE c.replica = p_replica AND c.recorded_at < now() - p_seconds * interval '1 second' LIMIT 1000;
END $$;
