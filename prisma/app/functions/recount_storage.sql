-- Corrects one conversation's sum under its lock. Returns by how many bytes it was off; NULL when the conversation is
-- gone.
CREATE OR REPLACE FUNCTION app.recount_storage(p_org text, p_conversation uuid) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  c record;
  m record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  -- Deleted conversations count until they are removed.
  PERFORM set_config('app.deleted', 'shown', true);
  SELECT t.log_bytes, t.blob_bytes, t.snapshot_bytes, t.granted_bytes, t.reserve_bytes INTO c FROM app.conversation t WHERE t.id = p_conversation AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO m FROM app.measure_storage(p_org, p_conversation);
  IF (c.log_bytes, c.blob_bytes, c.snapshot_bytes) IS DISTINCT FROM (m.log_bytes, m.blob_bytes, m.snapshot_bytes) THEN
    UPDATE app.conversation t SET log_bytes = m.log_bytes, blob_bytes = m.blob_bytes, snapshot_bytes = m.snapshot_bytes WHERE t.id = p_conversation;
  END IF;
  PERFORM app.grant_storage(p_org, p_conversation, m.log_bytes + m.blob_bytes + m.snapshot_bytes, c.granted_bytes, c.reserve_bytes, 'platform');
  RETURN m.log_bytes + m.blob_bytes + m.snapshot_bytes - c.log_bytes - c.blob_bytes - c.snapshot_bytes;
END $$;
