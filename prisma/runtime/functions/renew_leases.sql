-- Heartbeat of a replica: it keeps the leases of this list. Missing from `kept`: those that are no longer its own, or
-- that are locked just now.
-- wanted: pools with waiting requests; a replica gives back what it holds of them.
CREATE OR REPLACE FUNCTION runtime.renew_leases(p_replica text, p_slots text[], p_epochs integer[], p_seconds double precision, OUT kept text[], OUT wanted text[])
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  INSERT INTO runtime.replica (replica_id) VALUES (p_replica) ON CONFLICT (replica_id) DO UPDATE SET seen_at = now();
  DELETE FROM runtime.replica WHERE replica_id IN (SELECT r.replica_id FROM runtime.replica r WHERE r.seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED);
  IF cardinality(p_slots) > 0 THEN
    WITH held AS MATERIALIZED (
      SELECT v.slot_id FROM runtime.slot v JOIN unnest(p_slots, p_epochs) AS u(slot_id, epoch) ON u.slot_id = v.slot_id AND u.epoch = v.epoch
      WHERE v.state = 'ready' AND v.holder = p_replica AND v.lease_until > now() FOR UPDATE OF v SKIP LOCKED
    ), renewed AS (
      UPDATE runtime.slot v SET lease_until = now() + p_seconds * interval '1 second' FROM held WHERE v.slot_id = held.slot_id RETURNING v.slot_id
    )
    SELECT array_agg(slot_id) INTO kept FROM renewed;
  END IF;
  kept := coalesce(kept, '{}');
  wanted := coalesce((SELECT q.wanted FROM runtime.look_at_queues() q), '{}');
END $$;
