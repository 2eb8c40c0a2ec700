-- Marks claims active after their sandboxes have accepted them. Sorted as a batch of claims is; n from 1. No row for a
-- claim that has ended meanwhile: its sandbox is to be destroyed, not used.
-- status_detail: what was lost on the way, for the response.
-- Commits asynchronously: the sandbox itself holds the receipt, and the reaper reads it when this is lost.
CREATE OR REPLACE FUNCTION runtime.activate_batch(p_orgs text[], p_sessions text[], p_claims text[], p_epochs integer[], p_addresses text[], p_dirs text[])
RETURNS TABLE (n integer, url text, working_dir text, restart_count integer, restart_reasons text[], status_detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; s record; v_org text;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '3s', true);
  FOR k IN 1..cardinality(p_orgs) LOOP
    IF p_orgs[k] IS DISTINCT FROM v_org THEN
      v_org := p_orgs[k];
      PERFORM set_config('app.org', v_org, true);
    END IF;
    SELECT t.url, t.working_dir, t.lost_count, t.lost_reasons, t.status_detail INTO s
      FROM runtime.session t WHERE t.org_id = v_org AND t.session_id = p_sessions[k] AND t.claim_id = p_claims[k] FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    UPDATE runtime.claim t SET state = 'active' WHERE t.claim_id = p_claims[k] AND t.org_id = v_org AND t.epoch = p_epochs[k] AND t.state = 'bound'
      RETURNING t.slot_id, t.restart_count, t.restart_reasons INTO c;
    IF FOUND THEN
      UPDATE runtime.slot SET state = 'active', address = p_addresses[k], changed_at = now() WHERE slot_id = c.slot_id AND state = 'bound' AND epoch = p_epochs[k];
      UPDATE runtime.session SET status = 'running', url = p_addresses[k], working_dir = p_dirs[k], changed_at = now()
        WHERE org_id = v_org AND session_id = p_sessions[k] AND claim_id = p_claims[k];
      s.url := p_addresses[k];
      s.working_dir := p_dirs[k];
    ELSE
      SELECT t.restart_count, t.restart_reasons INTO c FROM runtime.claim t WHERE t.claim_id = p_claims[k] AND t.org_id = v_org AND t.epoch = p_epochs[k] AND t.state = 'active';
      CONTINUE WHEN NOT FOUND;
    END IF;
    n := k; url := s.url; working_dir := s.working_dir; status_detail := s.status_detail;
    restart_count := s.lost_count + c.restart_count;
    restart_reasons := s.lost_reasons || c.restart_reasons;
    RETURN NEXT;
  END LOOP;
END $$;
