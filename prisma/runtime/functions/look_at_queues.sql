-- waited: some request has a place in a queue. wanted: pools with a request that could be served now: its organization
-- is below its limit, and it was seen within 10 s.
-- Takes the system role, since it covers all organizations and reveals nothing of any; returns to the role of the
-- connection.
CREATE OR REPLACE FUNCTION runtime.look_at_queues(OUT waited boolean, OUT wanted text[]) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true);
  waited := EXISTS (SELECT 1 FROM runtime.waiting);
  IF waited THEN
    SELECT array_agg(DISTINCT w.pool_id) INTO wanted FROM runtime.waiting w JOIN runtime.org_usage u USING (org_id)
      WHERE w.seen_at > now() - interval '10 seconds' AND u.in_use + w.cost <= coalesce(u.cap, w.default_cap);
  END IF;
  PERFORM set_config('role', 'none', true);
END $$;
