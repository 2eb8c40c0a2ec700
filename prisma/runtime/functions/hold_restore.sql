-- This restorer brings the workspace of a bound claim, and keeps the claim for p_seconds more. False: the claim is not
-- bound any more, or another restorer brings it and is alive.
-- p_detail: what the waiting caller reads; null changes nothing.
CREATE OR REPLACE FUNCTION runtime.hold_restore(p_org text, p_session text, p_claim text, p_restorer text, p_seconds integer, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true), set_config('synchronous_commit', 'off', true);
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = p_session AND claim_id = p_claim FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE runtime.claim SET restorer = p_restorer, deadline = now() + p_seconds * interval '1 second'
    WHERE claim_id = p_claim AND org_id = p_org AND state = 'bound' AND (restorer IS NULL OR restorer = p_restorer OR deadline < now());
  IF NOT FOUND THEN RETURN false; END IF;
  IF p_detail IS NOT NULL THEN
    UPDATE runtime.session SET status_detail = p_detail WHERE org_id = p_org AND session_id = p_session AND status_detail IS DISTINCT FROM p_detail;
  END IF;
  RETURN true;
END $$;
