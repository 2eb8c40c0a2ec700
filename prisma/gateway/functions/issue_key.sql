-- Stores a new key of a conversation and ends those before it, in one commit. Concurrent calls for one conversation
-- are serialized: the later key works.
-- Returns the ids that it ended.
CREATE OR REPLACE FUNCTION gateway.issue_key(
  p_id text, p_org text, p_conversation uuid, p_user text, p_alias text, p_models text[], p_hash bytea, p_expires timestamptz
) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE v_ended text[];
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM pg_advisory_xact_lock(hashtextextended('gateway.issue_key ' || p_conversation, 0));
  WITH ended AS (UPDATE gateway.virtual_key k SET revoked_at = now() WHERE k.conversation_id = p_conversation AND k.revoked_at IS NULL RETURNING k.id)
  SELECT coalesce(array_agg(e.id), '{}') INTO v_ended FROM ended e;
  INSERT INTO gateway.virtual_key (id, org_id, conversation_id, user_id, alias, models, hash, expires_at)
  VALUES (p_id, p_org, p_conversation, p_user, p_alias, p_models, p_hash, p_expires);
  RETURN v_ended;
END $$;
