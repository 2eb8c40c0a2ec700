-- Sandboxes that the pool is short of, for requests that wait and are within their limits.
CREATE OR REPLACE FUNCTION runtime.count_waiting(p_pool text) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true);
  RETURN (SELECT count(*) FROM runtime.waiting w JOIN runtime.org_usage u USING (org_id)
    WHERE w.pool_id = p_pool AND w.seen_at > now() - interval '10 seconds' AND u.in_use + w.cost <= coalesce(u.cap, w.default_cap));
END $$;
