-- What a claim and a refilled slot cost: fewer indexes that every change of a state has to write, no scan of an organization's sessions, fewer commits.

-- A claim lives until it has ended. The rule by state would make every step of a claim's life an entry in every index.
ALTER TABLE runtime.claim ADD CONSTRAINT claim_ended_check CHECK ((ended_at IS NULL) = (state IN ('bound', 'active')));
DROP INDEX runtime.claim_org_id_session_id_live_key;
CREATE UNIQUE INDEX claim_org_id_session_id_live_key ON runtime.claim (org_id, session_id) WHERE ended_at IS NULL;
-- Nothing asks for claims by deadline, nor for stopped sessions without asking for all workspaces.
DROP INDEX runtime.claim_deadline_idx;
DROP INDEX runtime.session_stopped_idx;
-- Without statistics, as on the first day, the planner takes it for as good as the primary key and reads a whole organization for one session. /list sorts what it reads.
DROP INDEX runtime.session_org_id_created_at_idx;
-- Room beside each row for the mark that follows it at once, which then touches no index.
ALTER TABLE runtime.claim SET (fillfactor = 50);
ALTER TABLE runtime.session SET (fillfactor = 50);

-- As before; finds the session by its key, through the claim, whose session never changes.
CREATE OR REPLACE FUNCTION runtime.release_claim(p_org text, p_claim text, p_only_bound boolean, p_end text, p_status text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE c record; v_session text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.session_id INTO v_session FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org;
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = v_session FOR UPDATE;
  SELECT t.state, t.slot_id, t.session_id INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.state NOT IN ('bound', 'active') OR (p_only_bound AND c.state <> 'bound') THEN RETURN false; END IF;
  UPDATE runtime.claim SET state = p_end, ended_at = now() WHERE claim_id = p_claim;
  UPDATE runtime.slot SET state = 'releasing', epoch = epoch + 1, reason = p_detail, changed_at = now() WHERE slot_id = c.slot_id;
  UPDATE runtime.org_usage SET in_use = in_use - 1 WHERE org_id = p_org;
  UPDATE runtime.session s SET status = p_status, status_detail = p_detail, changed_at = now(),
      workspace_ref = CASE WHEN c.state = 'bound' AND s.workspace_ref = 'sb-' || c.slot_id THEN NULL ELSE s.workspace_ref END,
      lost_count = s.lost_count + CASE WHEN p_end = 'lost' AND c.state = 'active' THEN 1 ELSE 0 END,
      lost_reasons = CASE WHEN p_end = 'lost' AND c.state = 'active' THEN (s.lost_reasons || p_detail)[greatest(1, cardinality(s.lost_reasons) - 8):] ELSE s.lost_reasons END
    WHERE s.org_id = p_org AND s.session_id = c.session_id AND s.claim_id = p_claim;
  RETURN true;
END $$;

-- As before; finds the session by its key, through the claim, whose session and slot never change.
CREATE OR REPLACE FUNCTION runtime.activate_claim(p_org text, p_claim text, p_epoch integer, p_address text, p_working_dir text)
RETURNS TABLE (url text, working_dir text, restart_count integer, restart_reasons text[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; s record; v_session text;
BEGIN
  PERFORM set_config('app.org', p_org, true), set_config('synchronous_commit', 'off', true);
  SELECT t.session_id INTO v_session FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org;
  SELECT t.url, t.working_dir, t.lost_count, t.lost_reasons INTO s FROM runtime.session t WHERE t.org_id = p_org AND t.session_id = v_session AND t.claim_id = p_claim FOR UPDATE;
  UPDATE runtime.claim t SET state = 'active' WHERE t.claim_id = p_claim AND t.org_id = p_org AND t.epoch = p_epoch AND t.state = 'bound'
    RETURNING t.slot_id, t.restart_count, t.restart_reasons INTO c;
  IF FOUND THEN
    UPDATE runtime.slot SET state = 'active', address = p_address, changed_at = now() WHERE slot_id = c.slot_id AND state = 'bound' AND epoch = p_epoch;
    UPDATE runtime.session SET status = 'running', status_detail = NULL, url = p_address, working_dir = p_working_dir, changed_at = now()
      WHERE org_id = p_org AND session_id = v_session AND claim_id = p_claim;
    RETURN QUERY SELECT p_address, p_working_dir, s.lost_count + c.restart_count, s.lost_reasons || c.restart_reasons;
    RETURN;
  END IF;
  RETURN QUERY SELECT s.url, s.working_dir, s.lost_count + t.restart_count, s.lost_reasons || t.restart_reasons
    FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org AND t.epoch = p_epoch AND t.state = 'active';
END $$;

-- Creation of these slots begins, each under the epoch that was read. Returns those that nobody has changed meanwhile.
-- Not waited for to reach the disk: when it is lost, the slot is an intent again, and to make its sandbox again changes nothing.
CREATE FUNCTION runtime.begin_slots(p_slots text[], p_epochs integer[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  RETURN QUERY UPDATE runtime.slot s SET state = 'provisioning', changed_at = now() FROM unnest(p_slots, p_epochs) AS u(slot_id, epoch)
    WHERE s.slot_id = u.slot_id AND s.epoch = u.epoch AND s.state = 'intent' RETURNING s.slot_id;
END $$;

-- A slot's sandbox is blank and answers: which one it is, where, and that it may be given out. False when somebody has changed the slot.
-- Not waited for to reach the disk: a claim of this slot is, and takes what was written before with it. Lost without one, the next leader finds the sandbox again.
CREATE FUNCTION runtime.ready_slot(p_slot text, p_epoch integer, p_uid text, p_address text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  UPDATE runtime.slot SET state = 'ready', pod_uid = p_uid, address = p_address, warmed_at = now(), checked_at = now(), changed_at = now()
    WHERE slot_id = p_slot AND state = 'provisioning' AND epoch = p_epoch AND (pod_uid IS NULL OR pod_uid = p_uid);
  RETURN FOUND;
END $$;

-- The sandbox of a slot has been removed. False when it was already.
-- Not waited for to reach the disk: when it is lost, the slot is removed once more, of which nothing is left.
CREATE FUNCTION runtime.forget_slot(p_slot text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  UPDATE runtime.slot SET state = 'gone', changed_at = now() WHERE slot_id = p_slot AND state IN ('releasing', 'doomed');
  RETURN FOUND;
END $$;
