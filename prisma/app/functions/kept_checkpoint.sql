-- Whether a checkpoint is kept as long as its conversation: named, pinned, or what another conversation was forked
-- from.
CREATE OR REPLACE FUNCTION app.kept_checkpoint(p_checkpoint app.checkpoint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_checkpoint.name IS NOT NULL OR p_checkpoint.pinned_by IS NOT NULL OR EXISTS (
    SELECT 1 FROM app.checkpoint f WHERE f.org_id = p_checkpoint.org_id AND f.parent_id = p_checkpoint.id
      AND f.conversation_id <> p_checkpoint.conversation_id)
$$;
