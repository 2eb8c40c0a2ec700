-- The mark answers with what the caller needs to describe the runtime, so that a claim is two round trips.
DROP FUNCTION runtime.activate_claim(text, text, integer, text, text);

-- Marks a claim active after its sandbox has accepted it. No row when the claim has ended meanwhile: the sandbox is then somebody's to destroy, not to use.
-- Not waited for to reach the disk: the sandbox itself holds the receipt, and the reaper reads it when this is lost.
CREATE FUNCTION runtime.activate_claim(p_org text, p_claim text, p_epoch integer, p_address text, p_working_dir text)
RETURNS TABLE (url text, working_dir text, restart_count integer, restart_reasons text[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; s record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SET LOCAL synchronous_commit = off;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND claim_id = p_claim FOR UPDATE;
  SELECT t.state, t.slot_id, t.epoch, t.restart_count, t.restart_reasons INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.epoch <> p_epoch OR c.state NOT IN ('bound', 'active') THEN RETURN; END IF;
  IF c.state = 'bound' THEN
    UPDATE runtime.claim SET state = 'active' WHERE claim_id = p_claim;
    UPDATE runtime.slot SET state = 'active', address = p_address, changed_at = now() WHERE slot_id = c.slot_id AND state = 'bound' AND epoch = p_epoch;
    UPDATE runtime.session SET status = 'running', status_detail = NULL, url = p_address, working_dir = p_working_dir, changed_at = now()
      WHERE org_id = p_org AND claim_id = p_claim;
  END IF;
  RETURN QUERY SELECT t.url, t.working_dir, t.lost_count + c.restart_count, t.lost_reasons || c.restart_reasons FROM runtime.session t WHERE t.org_id = p_org AND t.claim_id = p_claim;
END $$;
