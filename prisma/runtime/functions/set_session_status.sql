-- Changes the status of a session whose last claim has ended. False: it has a newer claim, or this one is live.
CREATE OR REPLACE FUNCTION runtime.set_session_status(p_org text, p_session text, p_claim text, p_status text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  UPDATE runtime.session s SET status = p_status, status_detail = NULL, changed_at = now() WHERE s.org_id = p_org AND s.session_id = p_session AND s.claim_id = p_claim
    AND NOT EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = s.claim_id AND c.ended_at IS NULL);
  RETURN FOUND;
END $$;
