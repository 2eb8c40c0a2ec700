-- Leases up to p_count ready, unleased slots of a pool to a replica that holds p_held, the most recently warmed first,
-- and never more in all than its share.
-- None while requests wait: those are served first. Commits asynchronously: a lease that is lost is one that has
-- ended.
CREATE OR REPLACE FUNCTION runtime.lease_chunk(p_pool text, p_replica text, p_count integer, p_held integer, p_seconds double precision)
RETURNS TABLE (slot_id text, epoch integer, pod_name text, pod_uid text, address text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE v_replicas integer; v_ready integer;
BEGIN
  SET LOCAL synchronous_commit = off;
  IF p_pool = ANY ((SELECT q.wanted FROM runtime.look_at_queues() q)::text[]) THEN RETURN; END IF;
  SELECT greatest(1, count(*)) INTO v_replicas FROM runtime.replica WHERE seen_at > now() - interval '15 seconds';
  -- Counted only as far as it matters.
  SELECT count(*) INTO v_ready FROM (SELECT 1 FROM runtime.slot WHERE pool_id = p_pool AND state = 'ready' LIMIT v_replicas * (p_held + p_count)) r;
  RETURN QUERY
    WITH chunk AS MATERIALIZED (
      SELECT v.slot_id FROM runtime.slot v
      WHERE v.pool_id = p_pool AND v.state = 'ready' AND (v.holder IS NULL OR v.lease_until < now())
      ORDER BY v.warmed_at DESC LIMIT greatest(0, least(p_count, (v_ready + v_replicas - 1) / v_replicas - p_held)) FOR UPDATE SKIP LOCKED
    ), leased AS (
      UPDATE runtime.slot v SET holder = p_replica, lease_until = now() + p_seconds * interval '1 second', epoch = v.epoch + 1
      FROM chunk WHERE v.slot_id = chunk.slot_id RETURNING v.*
    )
    SELECT v.slot_id, v.epoch, v.pod_name, v.pod_uid, v.address FROM leased v ORDER BY v.warmed_at DESC;
END $$;
