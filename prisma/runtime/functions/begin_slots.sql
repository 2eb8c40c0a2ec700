-- Creation of these slots begins, each under the epoch that was read. Returns those that nobody has changed meanwhile.
-- Commits asynchronously: when it is lost, the slot is an intent again, and making its sandbox again is idempotent.
CREATE OR REPLACE FUNCTION runtime.begin_slots(p_slots text[], p_epochs integer[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  RETURN QUERY UPDATE runtime.slot s SET state = 'provisioning', changed_at = now() FROM unnest(p_slots, p_epochs) AS u(slot_id, epoch)
    WHERE s.slot_id = u.slot_id AND s.epoch = u.epoch AND s.state = 'intent' RETURNING s.slot_id;
END $$;
