-- After packing anew: the checkpoints named, of one conversation, refer to p_new in place of p_drop, in this one
-- transaction. What they reach in p_drop is in p_new, and p_new is in the store. @returns the checkpoints that were
-- changed: those that are durable still. When none is, nothing is stored, and the objects of p_new go as those of the
-- dead do. p_begun as for commit_checkpoint; too late is none.
CREATE OR REPLACE FUNCTION app.swap_packs(p_org text, p_conversation uuid, p_checkpoints uuid[], p_drop text[], p_new jsonb, p_begun timestamptz) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[];
  v_bytes bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation FOR UPDATE;
  IF NOT FOUND OR p_begun IS NULL OR p_begun < now() - interval '24 hours' THEN RETURN '{}'; END IF;
  PERFORM 1 FROM app.checkpoint k WHERE k.org_id = p_org AND k.id = ANY (p_checkpoints) ORDER BY k.id FOR UPDATE;
  SELECT coalesce(array_agg(k.id ORDER BY k.id), '{}') INTO v_ids FROM app.checkpoint k
    WHERE k.org_id = p_org AND k.conversation_id = p_conversation AND k.id = ANY (p_checkpoints) AND k.state = 'durable';
  IF cardinality(v_ids) = 0 THEN RETURN v_ids; END IF;
  INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by)
    SELECT p_org, n->>'id', (n->>'bytes')::bigint, (n->>'bytes')::bigint, decode(n->>'wrapped_key', 'base64'), (n->>'key_version')::integer, p_conversation
    FROM jsonb_array_elements(p_new) n ORDER BY n->>'id';
  INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id)
    SELECT p_org, k, n->>'id' FROM unnest(v_ids) k, jsonb_array_elements(p_new) n;
  DELETE FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.checkpoint_id = ANY (v_ids) AND r.pack_id = ANY (p_drop);
  SELECT coalesce(sum((n->>'bytes')::bigint), 0) INTO v_bytes FROM jsonb_array_elements(p_new) n;
  PERFORM app.count_packs(p_org, v_bytes);
  RETURN v_ids;
END $$;
