-- Ends a claim: its slot goes to releasing, and the organization gets back what the claim cost. No-op for a claim that
-- has ended.
-- p_only_bound: end it only if it has not become active (its deadline passed, or its activation failed).
-- p_status: the session's new status, if this is still its claim. A workspace that no client has seen is not kept.
CREATE OR REPLACE FUNCTION runtime.release_claim(p_org text, p_claim text, p_only_bound boolean, p_end text, p_status text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE c record; v_session text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.session_id INTO v_session FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org;
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = v_session FOR UPDATE;
  SELECT t.state, t.slot_id, t.session_id, t.cost INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.state NOT IN ('bound', 'active') OR (p_only_bound AND c.state <> 'bound') THEN RETURN false; END IF;
  UPDATE runtime.claim SET state = p_end, ended_at = now() WHERE claim_id = p_claim;
  UPDATE runtime.slot SET state = 'releasing', epoch = epoch + 1, reason = p_detail, changed_at = now() WHERE slot_id = c.slot_id;
  UPDATE runtime.org_usage SET in_use = in_use - c.cost WHERE org_id = p_org;
  UPDATE runtime.session s SET status = p_status, status_detail = p_detail, changed_at = now(),
      workspace_ref = CASE WHEN c.state = 'bound' AND s.workspace_ref = 'sb-' || c.slot_id THEN NULL ELSE s.workspace_ref END,
      lost_count = s.lost_count + CASE WHEN p_end = 'lost' AND c.state = 'active' THEN 1 ELSE 0 END,
      lost_reasons = CASE WHEN p_end = 'lost' AND c.state = 'active' THEN (s.lost_reasons || p_detail)[greatest(1, cardinality(s.lost_reasons) - 8):] ELSE s.lost_reasons END
    WHERE s.org_id = p_org AND s.session_id = c.session_id AND s.claim_id = p_claim;
  RETURN true;
END $$;
