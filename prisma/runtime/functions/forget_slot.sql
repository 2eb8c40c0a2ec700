-- The sandbox of a slot has been removed. False when it was already.
-- Commits asynchronously: when it is lost, the removal is repeated and finds nothing.
CREATE OR REPLACE FUNCTION runtime.forget_slot(p_slot text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  UPDATE runtime.slot SET state = 'gone', changed_at = now() WHERE slot_id = p_slot AND state IN ('releasing', 'doomed');
  RETURN FOUND;
END $$;
