-- The session waits no longer. p_claim: only if this one waits; null: any.
CREATE OR REPLACE FUNCTION runtime.leave_queue(p_org text, p_session text, p_claim text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true), set_config('synchronous_commit', 'off', true);
  DELETE FROM runtime.waiting w WHERE w.org_id = p_org AND w.session_id = p_session AND (p_claim IS NULL OR w.claim_id = p_claim);
  RETURN FOUND;
END $$;
