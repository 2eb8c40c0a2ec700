-- Claims in batches over chunks of ready slots that are leased to replicas, and the queue of those that wait for one.
--
-- Locks are taken in one order everywhere: pool, org_usage (sorted), session (sorted), waiting, claim. Sorted: by org_id, then session_id, in bytes.
-- A ready slot is only ever locked with SKIP LOCKED by whoever holds anything else; nobody waits for one while others wait for him.
-- Whoever writes more than one row does so in one statement of the client (these functions): a replica that is stopped in the middle of it holds no lock.

-- A lease is holder and lease_until on a ready slot: who binds it without looking for one, and until when the others look elsewhere. It is no state, and the epoch grows with
-- each change of holder. When nothing else is ready, a lease is taken over: nobody waits for a replica that may be dead, and the holder's late bind finds another epoch.
-- Room beside each row: to lease and to renew touches no index.
ALTER TABLE runtime.slot SET (fillfactor = 70);

-- Replicas that lease; by them the ready slots are divided.
CREATE TABLE runtime.replica (
  replica_id text PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL DEFAULT now()
);

-- in_use and cap count costs: a sandbox of size n counts n times. weight: shares of the pool when organizations wait for it.
ALTER TABLE runtime.org_usage ADD COLUMN weight integer NOT NULL DEFAULT 1 CHECK (weight >= 1);
ALTER TABLE runtime.claim ADD COLUMN cost integer NOT NULL DEFAULT 1 CHECK (cost >= 1);
-- The pool that the session's sandboxes come from; null for those of before there was a choice.
ALTER TABLE runtime.session ADD COLUMN pool_id text;

-- Sessions that wait for a sandbox of a pool, with all that it takes to bind one to them. A place whose owner has not been seen for 10 s is nobody's.
CREATE TABLE runtime.waiting (
  org_id text NOT NULL,
  session_id text NOT NULL,
  pool_id text NOT NULL,
  claim_id text NOT NULL,
  runtime_id text NOT NULL,
  -- Null: /resume, which has no body; environment is then empty, and the session's own counts.
  request_hash text,
  api_key bytea NOT NULL,
  environment bytea NOT NULL,
  cost integer NOT NULL CHECK (cost >= 1),
  lane text NOT NULL CHECK (lane IN ('interactive', 'batch')),
  -- What the organization may hold when its own row does not say.
  default_cap integer NOT NULL,
  arrival bigint GENERATED ALWAYS AS IDENTITY,
  enqueued_at timestamptz(3) NOT NULL DEFAULT now(),
  seen_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, session_id)
);
CREATE UNIQUE INDEX waiting_claim_id_key ON runtime.waiting (claim_id);
CREATE INDEX waiting_pool_id_idx ON runtime.waiting (pool_id);

-- Deficit and turn of each organization that waits for a pool (libs/domain/src/fair-queue.ts).
CREATE TABLE runtime.fair_share (
  pool_id text NOT NULL,
  org_id text NOT NULL,
  deficit integer NOT NULL,
  turn bigint NOT NULL,
  PRIMARY KEY (pool_id, org_id)
);

-- Sandboxes on which their owner is still to be written, for people who look from outside. Written with the claim; done after the answer.
CREATE TABLE runtime.sandbox_note (
  slot_id text PRIMARY KEY,
  org_id text NOT NULL,
  session_id text NOT NULL,
  claim_id text NOT NULL,
  pod_name text NOT NULL,
  pod_uid text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX sandbox_note_next_at_idx ON runtime.sandbox_note (next_at);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['waiting', 'fair_share', 'sandbox_note'] LOOP
    EXECUTE format('ALTER TABLE runtime.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE runtime.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON runtime.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON runtime.%I TO slipway_runtime_system USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.replica, runtime.waiting, runtime.fair_share, runtime.sandbox_note TO slipway_runtime, slipway_runtime_system;

-- Leases -------------------------------------------------------------------------------------------------------------------------------------------------

-- Pools for which somebody waits that could be served now: his organization may hold one more, and he was seen within 10 s.
-- Asks as the system role, since it is about all organizations, and tells nothing of any; goes back to the role of the connection.
CREATE FUNCTION runtime.wanted_pools() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE v_pools text[];
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true);
  SELECT array_agg(DISTINCT w.pool_id) INTO v_pools FROM runtime.waiting w JOIN runtime.org_usage u USING (org_id)
    WHERE w.seen_at > now() - interval '10 seconds' AND u.in_use + w.cost <= coalesce(u.cap, w.default_cap);
  PERFORM set_config('role', 'none', true);
  RETURN v_pools;
END $$;

-- Leases up to p_count ready slots of a pool that nobody leases to a replica that holds p_held, the most recently warmed first; never more in all than its share of them.
-- None while somebody waits: those are served first. Not waited for to reach the disk: a lease that is lost is one that has ended.
CREATE FUNCTION runtime.lease_chunk(p_pool text, p_replica text, p_count integer, p_held integer, p_seconds double precision)
RETURNS TABLE (slot_id text, epoch integer, pod_name text, pod_uid text, address text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE v_replicas integer; v_ready integer;
BEGIN
  SET LOCAL synchronous_commit = off;
  IF p_pool = ANY (runtime.wanted_pools()) THEN RETURN; END IF;
  SELECT greatest(1, count(*)) INTO v_replicas FROM runtime.replica WHERE seen_at > now() - interval '15 seconds';
  -- Counted only as far as it matters.
  SELECT count(*) INTO v_ready FROM (SELECT 1 FROM runtime.slot WHERE pool_id = p_pool AND state = 'ready' LIMIT v_replicas * (p_held + p_count)) r;
  RETURN QUERY
    WITH chunk AS MATERIALIZED (
      SELECT v.slot_id FROM runtime.slot v
      WHERE v.pool_id = p_pool AND v.state = 'ready' AND (v.holder IS NULL OR v.lease_until < now())
      ORDER BY v.warmed_at DESC LIMIT greatest(0, least(p_count, (v_ready + v_replicas - 1) / v_replicas - p_held)) FOR UPDATE SKIP LOCKED
    ), leased AS (
      UPDATE runtime.slot v SET holder = p_replica, lease_until = now() + p_seconds * interval '1 second', epoch = v.epoch + 1
      FROM chunk WHERE v.slot_id = chunk.slot_id RETURNING v.*
    )
    SELECT v.slot_id, v.epoch, v.pod_name, v.pod_uid, v.address FROM leased v ORDER BY v.warmed_at DESC;
END $$;

-- A replica is there, and keeps what it holds of this list. Left out of `kept`: those that are not its own any more, or that somebody looks at just now.
-- wanted: pools for which somebody waits; a replica gives back what it holds of them.
CREATE FUNCTION runtime.renew_leases(p_replica text, p_slots text[], p_epochs integer[], p_seconds double precision, OUT kept text[], OUT wanted text[])
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  INSERT INTO runtime.replica (replica_id) VALUES (p_replica) ON CONFLICT (replica_id) DO UPDATE SET seen_at = now();
  DELETE FROM runtime.replica WHERE replica_id IN (SELECT r.replica_id FROM runtime.replica r WHERE r.seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED);
  IF cardinality(p_slots) > 0 THEN
    WITH held AS MATERIALIZED (
      SELECT v.slot_id FROM runtime.slot v JOIN unnest(p_slots, p_epochs) AS u(slot_id, epoch) ON u.slot_id = v.slot_id AND u.epoch = v.epoch
      WHERE v.state = 'ready' AND v.holder = p_replica AND v.lease_until > now() FOR UPDATE OF v SKIP LOCKED
    ), renewed AS (
      UPDATE runtime.slot v SET lease_until = now() + p_seconds * interval '1 second' FROM held WHERE v.slot_id = held.slot_id RETURNING v.slot_id
    )
    SELECT array_agg(slot_id) INTO kept FROM renewed;
  END IF;
  kept := coalesce(kept, '{}');
  wanted := coalesce(runtime.wanted_pools(), '{}');
END $$;

-- Gives leased slots back. Returns how many were its own.
CREATE FUNCTION runtime.return_leases(p_replica text, p_slots text[], p_epochs integer[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE v_count integer;
BEGIN
  SET LOCAL synchronous_commit = off;
  WITH held AS MATERIALIZED (
    SELECT v.slot_id FROM runtime.slot v JOIN unnest(p_slots, p_epochs) AS u(slot_id, epoch) ON u.slot_id = v.slot_id AND u.epoch = v.epoch
    WHERE v.state = 'ready' AND v.holder = p_replica FOR UPDATE OF v SKIP LOCKED
  )
  UPDATE runtime.slot v SET holder = NULL, lease_until = NULL, epoch = v.epoch + 1 FROM held WHERE v.slot_id = held.slot_id;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Claims -------------------------------------------------------------------------------------------------------------------------------------------------

-- As before; a claim gives back what it costs.
CREATE OR REPLACE FUNCTION runtime.release_claim(p_org text, p_claim text, p_only_bound boolean, p_end text, p_status text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE c record; v_session text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.session_id INTO v_session FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org;
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = v_session FOR UPDATE;
  SELECT t.state, t.slot_id, t.session_id, t.cost INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.state NOT IN ('bound', 'active') OR (p_only_bound AND c.state <> 'bound') THEN RETURN false; END IF;
  UPDATE runtime.claim SET state = p_end, ended_at = now() WHERE claim_id = p_claim;
  UPDATE runtime.slot SET state = 'releasing', epoch = epoch + 1, reason = p_detail, changed_at = now() WHERE slot_id = c.slot_id;
  UPDATE runtime.org_usage SET in_use = in_use - c.cost WHERE org_id = p_org;
  UPDATE runtime.session s SET status = p_status, status_detail = p_detail, changed_at = now(),
      workspace_ref = CASE WHEN c.state = 'bound' AND s.workspace_ref = 'sb-' || c.slot_id THEN NULL ELSE s.workspace_ref END,
      lost_count = s.lost_count + CASE WHEN p_end = 'lost' AND c.state = 'active' THEN 1 ELSE 0 END,
      lost_reasons = CASE WHEN p_end = 'lost' AND c.state = 'active' THEN (s.lost_reasons || p_detail)[greatest(1, cardinality(s.lost_reasons) - 8):] ELSE s.lost_reasons END
    WHERE s.org_id = p_org AND s.session_id = c.session_id AND s.claim_id = p_claim;
  RETURN true;
END $$;

DROP FUNCTION runtime.claim_slot(text, text, text, text, text, text, bytea, bytea, integer, integer, text);

-- One request of a batch. hash null: /resume. slot and epoch: one that this replica leases, or null. abandon: a claim of this session whose activation failed; it is ended first,
-- in the same commit, so that its place cannot be taken meanwhile. key and env: base64; env null with hash.
CREATE TYPE runtime.bind_item AS (
  n integer, org text, session text, pool text, claim text, runtime text, hash text, key text, env text, cost integer, lane text, slot text, epoch integer, abandon text
);

-- Gives sessions their slots: quota, idempotency, choice and binding of a whole batch in one round trip and one commit. No session twice in a batch.
--
-- outcome, one row an item: bound (new) | replay (the session's live claim) | mismatch (it was made, or waits, with another body) | quota (cap says which) |
-- queued (none is ready, or others wait: the session has its place in the queue, under claim_id) | missing (only for /resume: unknown or stopped).
-- A leased slot is taken only as it was leased: ready, this holder, this epoch, not over. lost: it was not, and the item got another one or its place in the queue.
-- Whoever comes while others wait for the pool waits behind them, also with a lease in hand.
CREATE FUNCTION runtime.bind_batch(p_replica text, p_items jsonb, p_deadline_ms integer, p_default_cap integer)
RETURNS TABLE (n integer, outcome text, lost boolean, cap integer, claim_id text, claim_state text, slot_id text, epoch integer, pod_name text, pod_uid text, address text,
  runtime_id text, api_key bytea, environment bytea, workspace_ref text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_items runtime.bind_item[];
  i runtime.bind_item;
  s runtime.session;
  w record;
  r record;
  v_wanted text[] := runtime.wanted_pools();
  v_orgs text[] := '{}';
  v_used integer[] := '{}';
  v_caps integer[] := '{}';
  v_known boolean[] := '{}';
  v_org text;
  v_fresh boolean;
  -- Indexes of v_items: those that want a slot, those that have to wait.
  v_todo integer[] := '{}';
  v_queue integer[] := '{}';
  v_left integer[];
  v_taken_over boolean;
  -- What was bound, side by side.
  b_item integer[] := '{}';
  b_slot text[] := '{}';
  b_epoch integer[] := '{}';
  o integer;
  k integer;
  x integer;
BEGIN
  -- Whoever holds a row that long is stopped or lost: the others of the batch must not wait for him.
  PERFORM set_config('lock_timeout', '3s', true);
  v_items := ARRAY(SELECT t FROM jsonb_populate_recordset(NULL::runtime.bind_item, p_items) t ORDER BY t.org COLLATE "C", t.session COLLATE "C");

  -- Every organization's row before anybody's session.
  FOREACH i IN ARRAY v_items LOOP
    CONTINUE WHEN i.org = v_org;
    v_org := i.org;
    PERFORM set_config('app.org', v_org, true);
    SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO r FROM runtime.org_usage t WHERE t.org_id = v_org FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO runtime.org_usage (org_id) VALUES (v_org) ON CONFLICT (org_id) DO NOTHING;
      SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO r FROM runtime.org_usage t WHERE t.org_id = v_org FOR UPDATE;
    END IF;
    v_orgs := v_orgs || v_org;
    v_used := v_used || r.in_use;
    v_caps := v_caps || r.cap;
  END LOOP;

  o := 0;
  v_org := NULL;
  FOR k IN 1..cardinality(v_items) LOOP
    i := v_items[k];
    IF v_org IS DISTINCT FROM i.org THEN
      o := o + 1;
      v_org := i.org;
      PERFORM set_config('app.org', v_org, true);
    END IF;
    lost := false;
    cap := NULL;
    claim_id := NULL;
    SELECT t.* INTO s FROM runtime.session t WHERE t.org_id = i.org AND t.session_id = i.session FOR UPDATE;
    v_known := v_known || FOUND;
    IF v_known[k] AND s.claim_id = i.abandon AND runtime.release_claim(i.org, i.abandon, true, 'lost', 'starting', 'the sandbox could not be activated') THEN
      v_used[o] := (SELECT t.in_use FROM runtime.org_usage t WHERE t.org_id = i.org);
      -- Those of this batch that will be bound are not in the row yet.
      FOREACH x IN ARRAY v_todo LOOP
        IF (v_items[x]).org = i.org THEN v_used[o] := v_used[o] + (v_items[x]).cost; END IF;
      END LOOP;
    END IF;
    IF i.hash IS NULL AND (NOT v_known[k] OR s.status = 'stopped') THEN
      n := i.n; outcome := 'missing'; RETURN NEXT;
      CONTINUE;
    END IF;
    IF v_known[k] THEN
      SELECT c.request_hash, c.claim_id, c.state, c.epoch, v.slot_id, v.pod_name, v.pod_uid, v.address INTO r
        FROM runtime.claim c JOIN runtime.slot v ON v.slot_id = c.slot_id WHERE c.claim_id = s.claim_id AND c.ended_at IS NULL;
      IF FOUND THEN
        RETURN QUERY SELECT i.n, CASE WHEN i.hash IS NULL OR r.request_hash = i.hash THEN 'replay' ELSE 'mismatch' END, false, NULL::integer,
          r.claim_id, r.state, r.slot_id, r.epoch, r.pod_name, r.pod_uid, r.address, s.runtime_id, s.api_key, s.environment, s.workspace_ref;
        CONTINUE;
      END IF;
    END IF;
    SELECT t.request_hash, t.claim_id, t.seen_at > now() - interval '10 seconds' AS fresh INTO w FROM runtime.waiting t WHERE t.org_id = i.org AND t.session_id = i.session;
    IF FOUND THEN
      IF w.fresh THEN
        n := i.n; outcome := CASE WHEN i.hash IS NULL OR coalesce(w.request_hash, s.request_hash) = i.hash THEN 'queued' ELSE 'mismatch' END; claim_id := w.claim_id;
        IF outcome = 'queued' THEN UPDATE runtime.waiting t SET seen_at = now() WHERE t.org_id = i.org AND t.session_id = i.session; END IF;
        RETURN NEXT;
        CONTINUE;
      END IF;
      DELETE FROM runtime.waiting t WHERE t.org_id = i.org AND t.session_id = i.session;
    END IF;
    IF v_used[o] + i.cost > v_caps[o] THEN
      n := i.n; outcome := 'quota'; cap := v_caps[o]; RETURN NEXT;
      CONTINUE;
    END IF;
    IF i.pool = ANY (v_wanted) THEN
      v_queue := v_queue || k;
    ELSE
      v_todo := v_todo || k;
      v_used[o] := v_used[o] + i.cost;
    END IF;
    IF i.hash IS NULL THEN v_items[k].hash := s.request_hash; END IF;
  END LOOP;

  IF cardinality(v_todo) > 0 THEN
    -- Those that were leased for it.
    FOR r IN
      WITH leased AS MATERIALIZED (
        SELECT v.slot_id, u.k FROM unnest(v_todo) AS u(k) JOIN runtime.slot v ON v.slot_id = (v_items[u.k]).slot AND v.epoch = (v_items[u.k]).epoch
        WHERE v.state = 'ready' AND v.holder = p_replica AND v.lease_until > clock_timestamp() FOR UPDATE OF v SKIP LOCKED
      )
      UPDATE runtime.slot v SET state = 'bound', epoch = v.epoch + 1, claim_id = (v_items[leased.k]).claim, changed_at = now()
        FROM leased WHERE v.slot_id = leased.slot_id RETURNING leased.k, v.slot_id, v.epoch
    LOOP
      b_item := b_item || r.k;
      b_slot := b_slot || r.slot_id;
      b_epoch := b_epoch || r.epoch;
    END LOOP;
    -- For the others those that nobody leases, then those that somebody else does; a pool at a time.
    FOR r IN SELECT (v_items[u.k]).pool, array_agg(u.k) AS ks FROM unnest(v_todo) AS u(k) WHERE u.k <> ALL (b_item) GROUP BY 1 LOOP
      v_left := r.ks;
      FOREACH v_taken_over IN ARRAY ARRAY[false, true] LOOP
        FOR w IN
          WITH free AS MATERIALIZED (
            SELECT v.slot_id FROM runtime.slot v WHERE v.pool_id = r.pool AND v.state = 'ready' AND (v_taken_over OR v.holder IS NULL OR v.lease_until < clock_timestamp())
            ORDER BY v.warmed_at DESC LIMIT cardinality(v_left) FOR UPDATE SKIP LOCKED
          ), chosen AS MATERIALIZED (SELECT slot_id, v_left[row_number() OVER ()] AS k FROM free)
          UPDATE runtime.slot v SET state = 'bound', epoch = v.epoch + 1, claim_id = (v_items[chosen.k]).claim, changed_at = now()
            FROM chosen WHERE v.slot_id = chosen.slot_id RETURNING chosen.k, v.slot_id, v.epoch
        LOOP
          b_item := b_item || w.k;
          b_slot := b_slot || w.slot_id;
          b_epoch := b_epoch || w.epoch;
        END LOOP;
        v_left := ARRAY(SELECT u.k FROM unnest(v_left) AS u(k) WHERE u.k <> ALL (b_item));
        EXIT WHEN cardinality(v_left) = 0;
      END LOOP;
      FOREACH k IN ARRAY v_left LOOP
        v_queue := v_queue || k;
        o := array_position(v_orgs, (v_items[k]).org);
        v_used[o] := v_used[o] - (v_items[k]).cost;
      END LOOP;
    END LOOP;
  END IF;

  -- Nothing bound and no claim ended: nothing that has to be on the disk before the answer.
  IF cardinality(b_item) = 0 AND NOT EXISTS (SELECT 1 FROM unnest(v_items) t WHERE t.abandon IS NOT NULL) THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;

  FOR o IN 1..cardinality(v_orgs) LOOP
    v_org := v_orgs[o];
    PERFORM set_config('app.org', v_org, true);
    IF cardinality(b_item) > 0 THEN
      RETURN QUERY
        WITH t AS MATERIALIZED (
          SELECT (v_items[u.k]).*, u.k, u.slot_id, u.slot_epoch, v.pod_name, v.pod_uid, v.address
          FROM unnest(b_item, b_slot, b_epoch) AS u(k, slot_id, slot_epoch) JOIN runtime.slot v ON v.slot_id = u.slot_id WHERE (v_items[u.k]).org = v_org
        ), claims AS (
          INSERT INTO runtime.claim (claim_id, org_id, session_id, request_hash, slot_id, epoch, cost, deadline)
          SELECT t.claim, t.org, t.session, t.hash, t.slot_id, t.slot_epoch, t.cost, now() + p_deadline_ms * interval '1 millisecond' FROM t
        ), notes AS (
          INSERT INTO runtime.sandbox_note (slot_id, org_id, session_id, claim_id, pod_name, pod_uid) SELECT t.slot_id, t.org, t.session, t.claim, t.pod_name, t.pod_uid FROM t
        ), used AS (
          UPDATE runtime.org_usage SET in_use = v_used[o] WHERE org_id = v_org AND in_use <> v_used[o]
        ), sessions AS (
          -- An empty environment is none: that of before counts.
          INSERT INTO runtime.session AS e (org_id, session_id, runtime_id, claim_id, request_hash, status, api_key, environment, workspace_ref, pool_id)
          SELECT t.org, t.session, t.runtime, t.claim, t.hash, 'starting', decode(t.key, 'base64'), decode(coalesce(t.env, ''), 'base64'), t.pod_name, t.pool FROM t
          ON CONFLICT (org_id, session_id) DO UPDATE SET claim_id = excluded.claim_id, request_hash = excluded.request_hash,
            environment = CASE WHEN excluded.environment = '' THEN e.environment ELSE excluded.environment END,
            workspace_ref = coalesce(e.workspace_ref, excluded.workspace_ref), pool_id = excluded.pool_id, status = 'starting', status_detail = NULL, changed_at = now()
          RETURNING e.session_id, e.runtime_id, e.api_key, e.environment, e.workspace_ref
        )
        SELECT t.n, 'bound', t.slot IS NOT NULL AND t.slot <> t.slot_id, NULL::integer, t.claim, 'bound', t.slot_id, t.slot_epoch, t.pod_name, t.pod_uid, t.address,
          e.runtime_id, CASE WHEN v_known[t.k] THEN e.api_key END, CASE WHEN v_known[t.k] THEN e.environment END, e.workspace_ref
        FROM t JOIN sessions e ON e.session_id = t.session;
    END IF;
    FOREACH k IN ARRAY v_queue LOOP
      i := v_items[k];
      CONTINUE WHEN i.org <> v_org;
      n := i.n;
      lost := i.slot IS NOT NULL;
      -- Nobody waits for more than his organization may have.
      IF v_used[o] + i.cost + (SELECT coalesce(sum(t.cost), 0) FROM runtime.waiting t WHERE t.org_id = v_org) > v_caps[o] THEN
        outcome := 'quota'; cap := v_caps[o]; claim_id := NULL; RETURN NEXT;
        CONTINUE;
      END IF;
      INSERT INTO runtime.waiting (org_id, session_id, pool_id, claim_id, runtime_id, request_hash, api_key, environment, cost, lane, default_cap)
        VALUES (i.org, i.session, i.pool, i.claim, i.runtime, CASE WHEN i.env IS NULL THEN NULL ELSE i.hash END, decode(i.key, 'base64'), decode(coalesce(i.env, ''), 'base64'), i.cost, i.lane, p_default_cap);
      PERFORM pg_notify('slipway_runtime', 'wanted ' || i.pool);
      outcome := 'queued'; cap := NULL; claim_id := i.claim; RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;

DROP FUNCTION runtime.activate_claim(text, text, integer, text, text);

-- Marks claims active after their sandboxes have accepted them. p_items: {n, org, session, claim, epoch, address, dir}. No row for a claim that has ended meanwhile:
-- its sandbox is then somebody's to destroy, not to use. status_detail: what was lost on the way, for the answer.
-- Not waited for to reach the disk: the sandbox itself holds the receipt, and the reaper reads it when this is lost.
CREATE FUNCTION runtime.activate_batch(p_items jsonb)
RETURNS TABLE (n integer, url text, working_dir text, restart_count integer, restart_reasons text[], status_detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE i record; c record; s record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '3s', true);
  FOR i IN
    SELECT t.* FROM jsonb_to_recordset(p_items) AS t(n integer, org text, session text, claim text, epoch integer, address text, dir text)
    ORDER BY t.org COLLATE "C", t.session COLLATE "C"
  LOOP
    PERFORM set_config('app.org', i.org, true);
    SELECT t.url, t.working_dir, t.lost_count, t.lost_reasons, t.status_detail INTO s
      FROM runtime.session t WHERE t.org_id = i.org AND t.session_id = i.session AND t.claim_id = i.claim FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    UPDATE runtime.claim t SET state = 'active' WHERE t.claim_id = i.claim AND t.org_id = i.org AND t.epoch = i.epoch AND t.state = 'bound'
      RETURNING t.slot_id, t.restart_count, t.restart_reasons INTO c;
    IF FOUND THEN
      UPDATE runtime.slot SET state = 'active', address = i.address, changed_at = now() WHERE slot_id = c.slot_id AND state = 'bound' AND epoch = i.epoch;
      UPDATE runtime.session SET status = 'running', url = i.address, working_dir = i.dir, changed_at = now() WHERE org_id = i.org AND session_id = i.session AND claim_id = i.claim;
      s.url := i.address;
      s.working_dir := i.dir;
    ELSE
      SELECT t.restart_count, t.restart_reasons INTO c FROM runtime.claim t WHERE t.claim_id = i.claim AND t.org_id = i.org AND t.epoch = i.epoch AND t.state = 'active';
      CONTINUE WHEN NOT FOUND;
    END IF;
    n := i.n;
    url := s.url;
    working_dir := s.working_dir;
    restart_count := s.lost_count + c.restart_count;
    restart_reasons := s.lost_reasons || c.restart_reasons;
    status_detail := s.status_detail;
    RETURN NEXT;
  END LOOP;
END $$;

-- The workspace that a bound claim should have had is lost: it goes on with the blank one that its sandbox was born with. False when the claim has ended or is active.
CREATE FUNCTION runtime.replace_workspace(p_org text, p_session text, p_claim text, p_workspace text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND session_id = p_session AND claim_id = p_claim FOR UPDATE;
  UPDATE runtime.session s SET workspace_ref = p_workspace, status_detail = p_detail, changed_at = now()
    WHERE s.org_id = p_org AND s.session_id = p_session AND s.claim_id = p_claim
      AND EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = p_claim AND c.org_id = p_org AND c.state = 'bound');
  RETURN FOUND;
END $$;

-- A session whose last claim has ended changes its status. False: it has a newer claim, or this one lives.
CREATE FUNCTION runtime.set_session_status(p_org text, p_session text, p_claim text, p_status text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  UPDATE runtime.session s SET status = p_status, status_detail = NULL, changed_at = now() WHERE s.org_id = p_org AND s.session_id = p_session AND s.claim_id = p_claim
    AND NOT EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = s.claim_id AND c.ended_at IS NULL);
  RETURN FOUND;
END $$;

-- The queue ----------------------------------------------------------------------------------------------------------------------------------------------

-- Binds up to p_limit ready slots, those that nobody leases first, to sessions that wait for the pool, by weighted deficit round robin (libs/domain/src/fair-queue.ts says the rule, its vectors hold here too).
-- Skipped: organizations at their caps, and whoever was not seen for 10 s. Returns claims, the first served first. Under the pool's lock: two at once take turns.
-- p_limit 0: only brings the shares up to who waits.
CREATE FUNCTION runtime.serve_waiting(p_pool text, p_limit integer, p_deadline_ms integer DEFAULT 30000) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  r record;
  -- Organizations that wait, side by side; head and last are indexes of the claims.
  o_id text[] := '{}'; o_weight integer[] := '{}'; o_cap integer[] := '{}'; o_used integer[] := '{}'; o_before integer[] := '{}';
  o_head integer[] := '{}'; o_last integer[] := '{}'; o_first bigint[] := '{}'; o_deficit integer[] := '{}'; o_turn bigint[] := '{}';
  -- Claims that wait, by organization in the order in which they are served.
  c_id text[] := '{}'; c_cost integer[] := '{}';
  v_slots text[] := '{}';
  v_taken_over boolean;
  v_served integer[] := '{}';
  v_next bigint;
  v_least bigint;
  o integer;
  x integer;
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true);
  IF NOT EXISTS (SELECT 1 FROM runtime.waiting WHERE pool_id = p_pool) AND NOT EXISTS (SELECT 1 FROM runtime.fair_share WHERE pool_id = p_pool) THEN RETURN; END IF;
  IF p_limit > 0 AND NOT EXISTS (SELECT 1 FROM runtime.slot WHERE pool_id = p_pool AND state = 'ready') THEN RETURN; END IF;
  PERFORM 1 FROM runtime.pool WHERE pool_id = p_pool FOR NO KEY UPDATE;

  FOR r IN
    SELECT u.org_id, u.in_use, u.cap, u.weight FROM runtime.org_usage u
    WHERE u.org_id IN (SELECT w.org_id FROM runtime.waiting w WHERE w.pool_id = p_pool AND w.seen_at > now() - interval '10 seconds')
    ORDER BY u.org_id COLLATE "C" FOR UPDATE
  LOOP
    o_id := o_id || r.org_id; o_weight := o_weight || r.weight; o_cap := o_cap || r.cap; o_used := o_used || r.in_use;
  END LOOP;
  o_before := o_used;
  o_head := array_fill(NULL::integer, ARRAY[cardinality(o_id)]);
  o_last := o_head;
  o_first := array_fill(NULL::bigint, ARRAY[cardinality(o_id)]);
  o_deficit := o_head;
  o_turn := o_first;
  FOR r IN
    SELECT w.claim_id, w.cost, w.arrival, w.default_cap, array_position(o_id, w.org_id) AS o FROM runtime.waiting w
    WHERE w.pool_id = p_pool AND w.org_id = ANY (o_id) AND w.seen_at > now() - interval '10 seconds'
      -- A session that was stopped while it waited to be resumed waits for nothing.
      AND (w.request_hash IS NOT NULL OR EXISTS (SELECT 1 FROM runtime.session s WHERE s.org_id = w.org_id AND s.session_id = w.session_id AND s.status <> 'stopped'))
    ORDER BY w.org_id COLLATE "C", w.lane = 'batch', w.arrival FOR UPDATE OF w
  LOOP
    c_id := c_id || r.claim_id; c_cost := c_cost || r.cost;
    o := r.o;
    IF o_head[o] IS NULL THEN o_head[o] := cardinality(c_id); END IF;
    o_last[o] := cardinality(c_id);
    o_first[o] := least(o_first[o], r.arrival);
    o_cap[o] := coalesce(o_cap[o], r.default_cap);
  END LOOP;
  FOREACH v_taken_over IN ARRAY ARRAY[false, true] LOOP
    v_slots := v_slots || ARRAY(
      SELECT v.slot_id FROM runtime.slot v
      WHERE v.pool_id = p_pool AND v.state = 'ready' AND (v_taken_over OR v.holder IS NULL OR v.lease_until < now()) AND v.slot_id <> ALL (v_slots)
      ORDER BY v.warmed_at DESC LIMIT least(p_limit, cardinality(c_id)) - cardinality(v_slots) FOR UPDATE SKIP LOCKED
    );
    EXIT WHEN cardinality(v_slots) >= least(p_limit, cardinality(c_id));
  END LOOP;

  -- Rows of those that wait; those of the others are dropped below.
  FOR r IN SELECT f.deficit, f.turn, array_position(o_id, f.org_id) AS o FROM runtime.fair_share f WHERE f.pool_id = p_pool AND f.org_id = ANY (o_id) LOOP
    o := r.o;
    IF o_head[o] IS NOT NULL THEN o_deficit[o] := r.deficit; o_turn[o] := r.turn; END IF;
  END LOOP;
  v_next := 1 + coalesce((SELECT max(t) FROM unnest(o_turn) t), 0);
  FOR o IN SELECT u.o FROM unnest(o_first) WITH ORDINALITY AS u(first, o) WHERE u.first IS NOT NULL AND o_turn[u.o] IS NULL ORDER BY u.first LOOP
    o_deficit[o] := o_weight[o];
    o_turn[o] := v_next;
    v_next := v_next + 1;
  END LOOP;

  WHILE cardinality(v_served) < cardinality(v_slots) LOOP
    o := NULL;
    v_least := NULL;
    FOR x IN 1..cardinality(o_id) LOOP
      CONTINUE WHEN o_turn[x] IS NULL OR o_turn[x] >= v_least OR o_used[x] + c_cost[o_head[x]] > o_cap[x];
      o := x;
      v_least := o_turn[x];
    END LOOP;
    EXIT WHEN o IS NULL;
    x := o_head[o];
    IF o_deficit[o] >= c_cost[x] THEN
      v_served := v_served || x;
      o_deficit[o] := o_deficit[o] - c_cost[x];
      o_used[o] := o_used[o] + c_cost[x];
      o_head[o] := x + 1;
      IF x = o_last[o] THEN
        o_turn[o] := NULL;
        -- NEXT is one more than the largest that is left.
        v_next := 1 + coalesce((SELECT max(t) FROM unnest(o_turn) t), 0);
        CONTINUE;
      END IF;
      CONTINUE WHEN c_cost[x + 1] <= o_deficit[o];
    END IF;
    o_deficit[o] := o_deficit[o] + o_weight[o];
    o_turn[o] := v_next;
    v_next := v_next + 1;
  END LOOP;

  IF cardinality(v_served) > 0 THEN
    WITH t AS MATERIALIZED (
      SELECT w.*, v.slot_id, v.pod_name, v.pod_uid, v.epoch + 1 AS slot_epoch
      FROM unnest(v_served) WITH ORDINALITY AS u(x, n) JOIN runtime.waiting w ON w.claim_id = c_id[u.x] JOIN runtime.slot v ON v.slot_id = v_slots[u.n]
    ), slots AS (
      UPDATE runtime.slot v SET state = 'bound', epoch = v.epoch + 1, claim_id = t.claim_id, changed_at = now() FROM t WHERE v.slot_id = t.slot_id
    ), left_queue AS (
      DELETE FROM runtime.waiting w USING t WHERE w.claim_id = t.claim_id
    ), notes AS (
      INSERT INTO runtime.sandbox_note (slot_id, org_id, session_id, claim_id, pod_name, pod_uid) SELECT t.slot_id, t.org_id, t.session_id, t.claim_id, t.pod_name, t.pod_uid FROM t
    ), used AS (
      UPDATE runtime.org_usage u SET in_use = n.used FROM unnest(o_id, o_used, o_before) AS n(org_id, used, before) WHERE u.org_id = n.org_id AND n.used <> n.before
    ), known AS MATERIALIZED (
      SELECT t.*, coalesce(t.request_hash, s.request_hash) AS hash FROM t LEFT JOIN runtime.session s ON s.org_id = t.org_id AND s.session_id = t.session_id
    ), claims AS (
      INSERT INTO runtime.claim (claim_id, org_id, session_id, request_hash, slot_id, epoch, cost, deadline)
      SELECT t.claim_id, t.org_id, t.session_id, t.hash, t.slot_id, t.slot_epoch, t.cost, now() + p_deadline_ms * interval '1 millisecond' FROM known t
    )
    INSERT INTO runtime.session AS e (org_id, session_id, runtime_id, claim_id, request_hash, status, api_key, environment, workspace_ref, pool_id)
      SELECT t.org_id, t.session_id, t.runtime_id, t.claim_id, t.hash, 'starting', t.api_key, t.environment, t.pod_name, t.pool_id FROM known t
      ORDER BY t.org_id COLLATE "C", t.session_id COLLATE "C"
      ON CONFLICT (org_id, session_id) DO UPDATE SET claim_id = excluded.claim_id, request_hash = excluded.request_hash,
        environment = CASE WHEN excluded.environment = '' THEN e.environment ELSE excluded.environment END,
        workspace_ref = coalesce(e.workspace_ref, excluded.workspace_ref), pool_id = excluded.pool_id, status = 'starting', status_detail = NULL, changed_at = now();
    PERFORM pg_notify('slipway_runtime', 'served ' || p_pool);
  ELSE
    SET LOCAL synchronous_commit = off;
  END IF;

  DELETE FROM runtime.fair_share f WHERE f.pool_id = p_pool AND NOT f.org_id = ANY (SELECT u.org_id FROM unnest(o_id, o_turn) AS u(org_id, turn) WHERE u.turn IS NOT NULL);
  INSERT INTO runtime.fair_share AS f (pool_id, org_id, deficit, turn)
    SELECT p_pool, u.org_id, u.deficit, u.turn FROM unnest(o_id, o_deficit, o_turn) AS u(org_id, deficit, turn) WHERE u.turn IS NOT NULL
    ON CONFLICT (pool_id, org_id) DO UPDATE SET deficit = excluded.deficit, turn = excluded.turn WHERE (f.deficit, f.turn) <> (excluded.deficit, excluded.turn);
  -- Last, and without waiting for anybody: places that nobody comes back to.
  DELETE FROM runtime.waiting w WHERE w.claim_id IN (
    SELECT t.claim_id FROM runtime.waiting t WHERE t.pool_id = p_pool AND t.seen_at < now() - interval '15 seconds' FOR UPDATE SKIP LOCKED
  );
  RETURN QUERY SELECT c_id[u.x] FROM unnest(v_served) WITH ORDINALITY AS u(x, n) ORDER BY u.n;
END $$;

-- Which of these claims wait no longer: they are bound, or their place is gone. The others are seen.
CREATE FUNCTION runtime.watch_waiting(p_claims text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true), set_config('synchronous_commit', 'off', true);
  UPDATE runtime.waiting w SET seen_at = now() WHERE w.claim_id IN (
    SELECT t.claim_id FROM runtime.waiting t WHERE t.claim_id = ANY (p_claims) AND t.seen_at < now() - interval '2 seconds' FOR UPDATE SKIP LOCKED
  );
  RETURN QUERY SELECT u.claim_id FROM unnest(p_claims) AS u(claim_id) WHERE NOT EXISTS (SELECT 1 FROM runtime.waiting w WHERE w.claim_id = u.claim_id);
END $$;

-- The session does not wait any more. p_claim: only if it is this one that waits; null: whichever.
CREATE FUNCTION runtime.leave_queue(p_org text, p_session text, p_claim text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true), set_config('synchronous_commit', 'off', true);
  DELETE FROM runtime.waiting w WHERE w.org_id = p_org AND w.session_id = p_session AND (p_claim IS NULL OR w.claim_id = p_claim);
  RETURN FOUND;
END $$;

-- Sandboxes that the pool lacks for those that wait and may have one.
CREATE FUNCTION runtime.count_waiting(p_pool text) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true);
  RETURN (SELECT count(*) FROM runtime.waiting w JOIN runtime.org_usage u USING (org_id)
    WHERE w.pool_id = p_pool AND w.seen_at > now() - interval '10 seconds' AND u.in_use + w.cost <= coalesce(u.cap, w.default_cap));
END $$;
