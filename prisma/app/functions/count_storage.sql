-- Counts what a transaction adds to a conversation, or removes from it, beside its events. Locks the conversation's
-- row.
CREATE OR REPLACE FUNCTION app.count_storage(p_org text, p_conversation uuid, p_log bigint, p_blob bigint, p_snapshot bigint, p_class text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  UPDATE app.conversation t SET log_bytes = greatest(0, t.log_bytes + p_log), blob_bytes = greatest(0, t.blob_bytes + p_blob), snapshot_bytes = greatest(0, t.snapshot_bytes + p_snapshot)
    WHERE t.id = p_conversation RETURNING t.log_bytes + t.blob_bytes + t.snapshot_bytes AS total, t.granted_bytes, t.reserve_bytes INTO c;
  IF FOUND THEN PERFORM app.grant_storage(p_org, p_conversation, c.total, c.granted_bytes, c.reserve_bytes, p_class); END IF;
END $$;
