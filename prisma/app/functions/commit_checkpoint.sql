-- Makes a checkpoint durable in one round trip and one commit. Its packs are in the store by then.
--
-- p_about: reason, quiet, complete, skipped, secrets, files, logical_bytes, name, pinned_by, taken_at, expires_at. One of
-- the reason step expires after two days, unless it says when.
-- p_held: the parent's packs as they were when the transfer began; what the new root reaches is in them or in p_new.
-- p_new: its own packs as [{id, bytes, wrapped_key (base64), key_version}].
-- p_begun: before the first byte of the transfer, by the clock of this database. Objects without a row are deleted when
-- they are 48 hours old, so one that began more than 24 hours ago comes too late.
-- p_seat: bytes of packs for each member of the organization; NULL: no limit. One conversation may hold a fifth of the
-- organization's limit. Checkpoints of the reasons pause and safety may take a tenth more of both.
--
-- outcome:
--   ok        it is durable, also when an earlier call made it so
--   gone      there is no such conversation
--   stale     another epoch writes
--   early     `after` is not in the log yet
--   missing   packs of p_held that cannot be used any more, or that were never this conversation's: transfer it again
--             without them; and with none named: the parent has no row, or p_begun is too long ago
--   conflict  the id is another checkpoint's, a new pack's id is taken, or the parent is later in the log or of another
--             conversation: a defect or an attack, not to be repeated
--   quota     no room; nothing is stored
-- A pack that is doomed, and whose object is certainly there, is live again. The row locks are held to the commit.
CREATE OR REPLACE FUNCTION app.commit_checkpoint(
  p_org text, p_conversation uuid, p_epoch integer, p_id uuid, p_after uuid, p_parent uuid,
  p_root bytea, p_content_hash bytea, p_held text[], p_new jsonb, p_about jsonb, p_begun timestamptz, p_seat bigint
) RETURNS TABLE (outcome text, seq bigint, missing text[], used_bytes bigint, limit_bytes bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_epoch integer;
  v_seq bigint;
  v_there record;
  v_parent record;
  v_usable text[];
  v_missing text[];
  v_new_bytes bigint;
  v_used bigint;
  v_own bigint;
  v_limit bigint;
  v_part bigint;
  v_factor numeric := CASE WHEN p_about->>'reason' IN ('pause', 'safety') THEN 1.1 ELSE 1 END;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.epoch INTO v_epoch FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'gone'::text, 0::bigint, '{}'::text[], 0::bigint, NULL::bigint;
    RETURN;
  END IF;
  SELECT k.conversation_id, k.root, k.seq INTO v_there FROM app.checkpoint k WHERE k.org_id = p_org AND k.id = p_id;
  IF FOUND THEN
    RETURN QUERY SELECT CASE WHEN v_there.conversation_id = p_conversation AND v_there.root = p_root THEN 'ok' ELSE 'conflict' END,
      v_there.seq, '{}'::text[], 0::bigint, NULL::bigint;
    RETURN;
  END IF;
  IF p_epoch IS DISTINCT FROM v_epoch THEN
    RETURN QUERY SELECT 'stale'::text, 0::bigint, '{}'::text[], 0::bigint, NULL::bigint;
    RETURN;
  END IF;
  SELECT e.seq INTO v_seq FROM app.event e WHERE e.org_id = p_org AND e.conversation_id = p_conversation AND e.event_id = p_after;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'early'::text, 0::bigint, '{}'::text[], 0::bigint, NULL::bigint;
    RETURN;
  END IF;
  IF p_begun IS NULL OR p_begun < now() - interval '24 hours' THEN
    RETURN QUERY SELECT 'missing'::text, v_seq, '{}'::text[], 0::bigint, NULL::bigint;
    RETURN;
  END IF;
  IF p_parent IS NOT NULL THEN
    SELECT k.conversation_id, k.seq INTO v_parent FROM app.checkpoint k WHERE k.org_id = p_org AND k.id = p_parent;
    IF NOT FOUND OR v_parent.conversation_id <> p_conversation OR v_parent.seq > v_seq THEN
      RETURN QUERY SELECT CASE WHEN v_parent.seq IS NULL THEN 'missing' ELSE 'conflict' END, v_seq, '{}'::text[], 0::bigint, NULL::bigint;
      RETURN;
    END IF;
  END IF;

  -- Locked before they are looked at: a collector that has one comes first, one that comes later sees the new rows.
  WITH held AS (
    SELECT p.id, p.stored_by, p.state, p.wrapped_key FROM app.pack p WHERE p.org_id = p_org AND p.id = ANY (p_held) ORDER BY p.id FOR SHARE
  )
  SELECT coalesce(array_agg(h.id), '{}') INTO v_usable FROM held h
  WHERE h.state <> 'deleting' AND h.wrapped_key IS NOT NULL AND (h.stored_by = p_conversation OR EXISTS (
    SELECT 1 FROM app.checkpoint_pack r JOIN app.checkpoint k ON k.org_id = r.org_id AND k.id = r.checkpoint_id
    WHERE r.org_id = p_org AND r.pack_id = h.id AND k.conversation_id = p_conversation));
  SELECT coalesce(array_agg(h ORDER BY h), '{}') INTO v_missing FROM unnest(p_held) h WHERE NOT h = ANY (v_usable);
  IF cardinality(v_missing) > 0 THEN
    RETURN QUERY SELECT 'missing'::text, v_seq, v_missing, 0::bigint, NULL::bigint;
    RETURN;
  END IF;

  SELECT coalesce(sum((n->>'bytes')::bigint), 0) INTO v_new_bytes FROM jsonb_array_elements(p_new) n;
  INSERT INTO app.pack_storage (org_id) VALUES (p_org) ON CONFLICT (org_id) DO NOTHING;
  SELECT s.used_bytes, s.limit_bytes INTO v_used, v_own FROM app.pack_storage s WHERE s.org_id = p_org FOR UPDATE;
  v_limit := app.pack_limit(p_org, v_own, p_seat);
  IF v_limit IS NOT NULL AND v_new_bytes > 0 THEN
    SELECT coalesce(sum(p.bytes), 0) INTO v_part FROM app.pack p WHERE p.org_id = p_org AND p.stored_by = p_conversation;
    IF v_used + v_new_bytes > v_limit * v_factor OR v_part + v_new_bytes > v_limit * v_factor / 5 THEN
      RETURN QUERY SELECT 'quota'::text, v_seq, '{}'::text[], v_used, v_limit;
      RETURN;
    END IF;
  END IF;

  UPDATE app.pack p SET state = 'live', doomed_at = NULL WHERE p.org_id = p_org AND p.id = ANY (v_usable) AND p.state = 'doomed';
  BEGIN
    INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by)
    SELECT p_org, n->>'id', (n->>'bytes')::bigint, (n->>'bytes')::bigint, decode(n->>'wrapped_key', 'base64'), (n->>'key_version')::integer, p_conversation
    FROM jsonb_array_elements(p_new) n ORDER BY n->>'id';
    INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, parent_id, root, content_hash, reason, quiet, complete,
      skipped, secrets, files, logical_bytes, new_bytes, name, pinned_by, taken_at, expires_at)
    VALUES (p_org, p_id, p_conversation, v_seq, p_after, p_epoch, p_parent, p_root, p_content_hash, p_about->>'reason',
      (p_about->>'quiet')::boolean, (p_about->>'complete')::boolean, coalesce(p_about->'skipped', '{}'), coalesce(p_about->'secrets', '[]'),
      (p_about->>'files')::bigint, (p_about->>'logical_bytes')::bigint, v_new_bytes, p_about->>'name', p_about->>'pinned_by',
      (p_about->>'taken_at')::timestamptz,
      coalesce((p_about->>'expires_at')::timestamptz, CASE WHEN p_about->>'reason' = 'step' THEN now() + interval '2 days' END));
    INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id)
    SELECT p_org, p_id, h FROM unnest(v_usable) h UNION ALL SELECT p_org, p_id, n->>'id' FROM jsonb_array_elements(p_new) n;
  EXCEPTION WHEN unique_violation THEN
    RETURN QUERY SELECT 'conflict'::text, v_seq, '{}'::text[], v_used, v_limit;
    RETURN;
  END;
  UPDATE app.pack_storage s SET used_bytes = s.used_bytes + v_new_bytes WHERE s.org_id = p_org AND v_new_bytes > 0;
  RETURN QUERY SELECT 'ok'::text, v_seq, '{}'::text[], v_used + v_new_bytes, v_limit;
END $$;
