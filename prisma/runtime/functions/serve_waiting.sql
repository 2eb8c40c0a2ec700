-- Binds up to p_limit ready slots, unleased ones first, to sessions that wait for the pool, by weighted deficit round
-- robin (libs/domain/src/fair-queue.ts has the rule; its vectors hold here too).
-- Skips organizations at their limits, sessions that have a sandbox, and requests last seen more than 10 s ago.
-- Returns claims, the first served first. Serialized by the pool's lock.
-- p_limit 0: only brings the shares in line with the queue.
CREATE OR REPLACE FUNCTION runtime.serve_waiting(p_pool text, p_limit integer, p_deadline_ms integer DEFAULT 30000) RETURNS SETOF text
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
  -- Two requests of one session may have come at the same moment, and only one of them have had to wait.
  DELETE FROM runtime.waiting w USING runtime.claim c
    WHERE w.pool_id = p_pool AND w.org_id = ANY (o_id) AND c.org_id = w.org_id AND c.session_id = w.session_id AND c.ended_at IS NULL;
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
