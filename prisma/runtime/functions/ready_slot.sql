-- A slot's sandbox is blank and answers: which one it is, where, and that it may be handed out. False when the slot
-- has changed.
-- Commits asynchronously: a claim of this slot commits synchronously, and takes earlier writes with it. Lost without
-- one, the next leader finds the sandbox again.
CREATE OR REPLACE FUNCTION runtime.ready_slot(p_slot text, p_epoch integer, p_uid text, p_address text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  UPDATE runtime.slot SET state = 'ready', pod_uid = p_uid, address = p_address, warmed_at = now(), checked_at = now(), changed_at = now()
    WHERE slot_id = p_slot AND state = 'provisioning' AND epoch = p_epoch AND (pod_uid IS NULL OR pod_uid = p_uid);
  RETURN FOUND;
END $$;
