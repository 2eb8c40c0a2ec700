-- Gives leased slots back. Returns how many were the replica's own.
CREATE OR REPLACE FUNCTION runtime.return_leases(p_replica text, p_slots text[], p_epochs integer[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE v_count integer;
BEGIN
  SET LOCAL synchronous_commit = off;
  WITH held AS MATERIALIZED (
    SELECT v.slot_id FROM runtime.slot v JOIN unnest(p_slots, p_epochs) AS u(slot_id, epoch) ON u.slot_id = v.slot_id AND u.epoch = v.epoch
    WHERE v.state = 'ready' AND v.holder = p_replica FOR UPDATE OF v SKIP LOCKED
  )
  UPDATE runtime.slot v SET holder = NULL, lease_until = NULL, epoch = v.epoch + 1 FROM held WHERE v.slot_id = held.slot_id;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;
