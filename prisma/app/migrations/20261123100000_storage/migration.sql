-- slipway: expand-only
-- What an organization keeps in this database, and how much it may.
--
-- Each conversation counts its own bytes in its row, which the transaction that adds to its log holds and writes anyway. Of the organization it takes blocks of
-- 64 KiB, ahead of the bytes: so the organization's row is written once a block and not once an event, its sum is never less than what is stored, and the limit is
-- kept under that row's lock, by however many replicas.
--
-- Lock order: conversation, org_storage, then what is deferred to the commit (the audit's chain). Nothing waits for a blob while it holds org_storage.

ALTER TABLE app.conversation ADD COLUMN log_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE app.conversation ADD COLUMN blob_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE app.conversation ADD COLUMN snapshot_bytes bigint NOT NULL DEFAULT 0;
-- Blocks that it has taken, and how much of that beyond the limit. Bytes.
ALTER TABLE app.conversation ADD COLUMN granted_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE app.conversation ADD COLUMN reserve_bytes bigint NOT NULL DEFAULT 0;

CREATE TABLE app.org_storage (
  org_id text PRIMARY KEY,
  -- Sum of granted_bytes of its conversations.
  used_bytes bigint NOT NULL DEFAULT 0,
  -- NULL: the installation's default; 0: none.
  limit_bytes bigint CHECK (limit_bytes >= 0),
  -- Highest share of the limit that a warning went out for, in percent; 0: none since it was last well below.
  warned_percent integer NOT NULL DEFAULT 0,
  -- What the last count of everything found, and by how much the sum was off. Bytes.
  counted_at timestamptz(3),
  drift_bytes bigint NOT NULL DEFAULT 0
);
ALTER TABLE app.org_storage ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.org_storage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.org_storage USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.org_storage TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.org_storage TO slipway_app, slipway_app_system;

-- The installation's own limit, of whoever has none of their own; worker writes its setting here when it starts. Of no organization. No row, or 0: no limit.
CREATE TABLE app.storage_default (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  limit_bytes bigint NOT NULL CHECK (limit_bytes >= 0),
  changed_at timestamptz(3) NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE ON app.storage_default TO slipway_app, slipway_app_system;

-- NULL: no limit.
CREATE FUNCTION app.storage_limit(p_own bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT nullif(coalesce(p_own, (SELECT d.limit_bytes FROM app.storage_default d)), 0)
$$;

-- What is left beyond the limit for what was promised before it was reached: 5 %, from 1 MiB to 64 MiB.
CREATE FUNCTION app.storage_reserve(p_limit bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT least(greatest(p_limit / 20, 1048576), 67108864)
$$;

-- Bytes of one event beside its text: its row, its ids and their places in three indexes.
CREATE FUNCTION app.event_overhead() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 256 $$;

-- Takes blocks for a conversation that now holds p_total, or gives back those that it needs no more. For callers that hold the conversation's row.
-- p_class: 'work' keeps to the limit; 'ending' (a conversation that is being paused) may take 256 KiB of the reserve; 'platform' is what the platform itself says, of
-- bounded size, and is always kept.
-- Raises SL507 when there is no room: nothing of the transaction is stored then.
CREATE FUNCTION app.grant_storage(p_org text, p_conversation uuid, p_total bigint, p_granted bigint, p_reserve bigint, p_class text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_block constant bigint := 65536;
  v_new bigint := (greatest(p_total, 0) + v_block - 1) / v_block * v_block;
  v_more bigint := v_new - p_granted;
  v_used bigint;
  v_own bigint;
  v_limit bigint;
  v_over bigint := 0;
BEGIN
  IF v_more = 0 THEN RETURN; END IF;
  LOOP
    UPDATE app.org_storage s SET used_bytes = greatest(0, s.used_bytes + v_more) WHERE s.org_id = p_org RETURNING s.used_bytes, s.limit_bytes INTO v_used, v_own;
    EXIT WHEN FOUND;
    INSERT INTO app.org_storage (org_id) VALUES (p_org) ON CONFLICT (org_id) DO NOTHING;
  END LOOP;
  v_limit := app.storage_limit(v_own);
  IF v_more > 0 AND v_used > v_limit THEN
    v_over := p_reserve + CASE WHEN p_class = 'ending' THEN v_more ELSE 0 END;
    IF p_class = 'work' OR (p_class = 'ending' AND (v_over > 4 * v_block OR v_used > v_limit + app.storage_reserve(v_limit))) THEN
      RAISE EXCEPTION 'storage full: % of % bytes', v_used - v_more, v_limit USING ERRCODE = 'SL507';
    END IF;
  END IF;
  UPDATE app.conversation SET granted_bytes = v_new, reserve_bytes = v_over WHERE id = p_conversation;
END $$;

-- Counts what a transaction adds to a conversation, or takes away, beside its events. Takes the conversation's row.
CREATE FUNCTION app.count_storage(p_org text, p_conversation uuid, p_log bigint, p_blob bigint, p_snapshot bigint, p_class text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  UPDATE app.conversation t SET log_bytes = greatest(0, t.log_bytes + p_log), blob_bytes = greatest(0, t.blob_bytes + p_blob), snapshot_bytes = greatest(0, t.snapshot_bytes + p_snapshot)
    WHERE t.id = p_conversation RETURNING t.log_bytes + t.blob_bytes + t.snapshot_bytes AS total, t.granted_bytes, t.reserve_bytes INTO c;
  IF FOUND THEN PERFORM app.grant_storage(p_org, p_conversation, c.total, c.granted_bytes, c.reserve_bytes, p_class); END IF;
END $$;

-- As before, and counted. Events of a sandbox are 'work' until their conversation is to rest, 'ending' from then on.
CREATE OR REPLACE FUNCTION app.append_events(
  p_org text, p_conversation uuid, p_epoch integer, p_lease_ms integer,
  p_producer bigint[], p_ids uuid[], p_kinds text[], p_events text[], p_patch jsonb
) RETURNS TABLE (outcome text, acked bigint, head bigint, first_seq bigint, stored uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  c record;
  g record;
  v_stored uuid[];
  v_acked bigint;
  v_first bigint;
  v_bytes bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.head, t.epoch, t.acked INTO c FROM app.conversation t WHERE t.id = p_conversation FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'missing'::text, 0::bigint, 0::bigint, 0::bigint, '{}'::uuid[];
    RETURN;
  END IF;
  IF p_epoch IS NOT NULL AND p_epoch <> c.epoch THEN
    RETURN QUERY SELECT 'stale'::text, c.acked, c.head, 0::bigint, '{}'::uuid[];
    RETURN;
  END IF;
  v_acked := c.acked;
  IF p_epoch IS NOT NULL AND cardinality(p_producer) > 0 THEN
    SELECT min(p) INTO v_first FROM unnest(p_producer) p WHERE p > c.acked;
    IF v_first IS NOT NULL AND v_first <> c.acked + 1 THEN
      RETURN QUERY SELECT 'gap'::text, c.acked, c.head, 0::bigint, '{}'::uuid[];
      RETURN;
    END IF;
    SELECT greatest(c.acked, max(p)) INTO v_acked FROM unnest(p_producer) p;
  END IF;
  WITH fresh AS (
    SELECT u.*, row_number() OVER (ORDER BY u.ord) AS n
    FROM unnest(p_producer, p_ids, p_kinds, p_events) WITH ORDINALITY AS u(producer, id, kind, body, ord)
    WHERE (p_epoch IS NULL OR u.producer > c.acked)
      AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.conversation_id = p_conversation AND e.event_id = u.id)
  ), inserted AS (
    INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event)
    SELECT p_conversation, c.head + f.n, p_org, c.epoch, CASE WHEN p_epoch IS NULL THEN NULL ELSE f.producer END, f.id, f.kind, f.body::json FROM fresh f
    RETURNING seq, event_id, kind
  ), consumed AS (
    UPDATE app.inbox_message m SET state = 'consumed' FROM inserted i WHERE i.kind = 'MessageEvent' AND m.id = i.event_id AND m.conversation_id = p_conversation
  )
  SELECT coalesce(array_agg(i.event_id ORDER BY i.seq), '{}'), (SELECT coalesce(sum(octet_length(f.body) + app.event_overhead()), 0) FROM fresh f) INTO v_stored, v_bytes FROM inserted i;

  UPDATE app.conversation t SET
    head = t.head + cardinality(v_stored),
    acked = v_acked,
    log_bytes = t.log_bytes + v_bytes,
    lease_until = CASE WHEN p_epoch IS NULL THEN t.lease_until ELSE now() + p_lease_ms * interval '1 millisecond' END,
    updated_at = CASE WHEN cardinality(v_stored) > 0 THEN now() ELSE t.updated_at END,
    status = coalesce(p_patch->>'status', t.status),
    execution_status = coalesce(p_patch->>'execution_status', t.execution_status),
    sandbox_status = coalesce(p_patch->>'sandbox_status', t.sandbox_status),
    start_status = coalesce(p_patch->>'start_status', t.start_status),
    status_state = coalesce((p_patch->'status_state')::json, t.status_state),
    steps = coalesce(p_patch->'steps', t.steps),
    title = coalesce(p_patch->>'title', t.title),
    cost_usd = coalesce((p_patch->>'cost_usd')::numeric, t.cost_usd),
    prompt_tokens = coalesce((p_patch->>'prompt_tokens')::bigint, t.prompt_tokens),
    completion_tokens = coalesce((p_patch->>'completion_tokens')::bigint, t.completion_tokens)
  WHERE t.id = p_conversation
  RETURNING t.log_bytes + t.blob_bytes + t.snapshot_bytes AS total, t.granted_bytes, t.reserve_bytes, t.desired INTO g;
  IF g.total > g.granted_bytes THEN
    PERFORM app.grant_storage(p_org, p_conversation, g.total, g.granted_bytes, g.reserve_bytes,
      CASE WHEN p_epoch IS NULL THEN 'platform' WHEN g.desired = 'rest' THEN 'ending' ELSE 'work' END);
  END IF;

  RETURN QUERY SELECT 'ok'::text, v_acked, c.head + cardinality(v_stored), c.head + 1, v_stored;
END $$;

-- What a conversation holds, counted from its rows.
CREATE FUNCTION app.measure_storage(p_org text, p_conversation uuid) RETURNS TABLE (log_bytes bigint, blob_bytes bigint, snapshot_bytes bigint)
LANGUAGE sql STABLE AS $$
  SELECT
    (SELECT coalesce(sum(octet_length(e.event::text) + app.event_overhead()), 0)::bigint FROM app.event e WHERE e.org_id = p_org AND e.conversation_id = p_conversation)
      + (SELECT coalesce(sum(octet_length(m.text) + app.event_overhead()), 0)::bigint FROM app.inbox_message m WHERE m.org_id = p_org AND m.conversation_id = p_conversation),
    (SELECT coalesce(sum(b.bytes), 0)::bigint FROM app.conversation_blob r JOIN app.blob b ON b.org_id = r.org_id AND b.sha256 = r.sha256
      WHERE r.org_id = p_org AND r.conversation_id = p_conversation),
    (SELECT coalesce(sum(octet_length(s.changes::text) + octet_length(s.patch)), 0)::bigint FROM app.workspace_snapshot s WHERE s.org_id = p_org AND s.conversation_id = p_conversation)
$$;

-- Corrects one conversation under its lock. Answers by how many bytes its own sum was off; NULL when there is no such conversation any more.
CREATE FUNCTION app.recount_storage(p_org text, p_conversation uuid) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  c record;
  m record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.log_bytes, t.blob_bytes, t.snapshot_bytes, t.granted_bytes, t.reserve_bytes INTO c FROM app.conversation t WHERE t.id = p_conversation AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO m FROM app.measure_storage(p_org, p_conversation);
  IF (c.log_bytes, c.blob_bytes, c.snapshot_bytes) IS DISTINCT FROM (m.log_bytes, m.blob_bytes, m.snapshot_bytes) THEN
    UPDATE app.conversation t SET log_bytes = m.log_bytes, blob_bytes = m.blob_bytes, snapshot_bytes = m.snapshot_bytes WHERE t.id = p_conversation;
  END IF;
  PERFORM app.grant_storage(p_org, p_conversation, m.log_bytes + m.blob_bytes + m.snapshot_bytes, c.granted_bytes, c.reserve_bytes, 'platform');
  RETURN m.log_bytes + m.blob_bytes + m.snapshot_bytes - c.log_bytes - c.blob_bytes - c.snapshot_bytes;
END $$;

-- Sets the organization's sum to that of its conversations. Answers by how much it was off. Its row is locked first: who takes a block waits, and a block that is
-- being taken meanwhile is waited for.
CREATE FUNCTION app.settle_storage(p_org text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_used bigint;
  v_sum bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  INSERT INTO app.org_storage (org_id) SELECT p_org WHERE EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = p_org) ON CONFLICT (org_id) DO NOTHING;
  SELECT s.used_bytes INTO v_used FROM app.org_storage s WHERE s.org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  SELECT coalesce(sum(c.granted_bytes), 0) INTO v_sum FROM app.conversation c WHERE c.org_id = p_org;
  UPDATE app.org_storage s SET used_bytes = v_sum, counted_at = now(), drift_bytes = v_sum - v_used WHERE s.org_id = p_org;
  RETURN v_sum - v_used;
END $$;

-- Takes a conversation away, with what it counts for; its other rows are deleted after it, a batch at a time. False: there is none.
CREATE FUNCTION app.delete_conversation(p_org text, p_conversation uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_granted bigint;
BEGIN
  DELETE FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation RETURNING t.granted_bytes INTO v_granted;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE app.org_storage s SET used_bytes = greatest(0, s.used_bytes - v_granted) WHERE s.org_id = p_org;
  RETURN true;
END $$;
