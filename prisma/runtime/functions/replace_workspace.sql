-- The workspace of a bound claim is lost: the session goes on with the blank one of its sandbox. False when the claim
-- has ended or is active.
CREATE OR REPLACE FUNCTION runtime.replace_workspace(p_org text, p_session text, p_claim text, p_workspace text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = p_session AND claim_id = p_claim FOR UPDATE;
  UPDATE runtime.session s SET workspace_ref = p_workspace, status_detail = p_detail, changed_at = now()
    WHERE s.org_id = p_org AND s.session_id = p_session AND s.claim_id = p_claim
      AND EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = p_claim AND c.org_id = p_org AND c.state = 'bound');
  RETURN FOUND;
END $$;
