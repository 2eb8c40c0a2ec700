-- Gives sessions their slots: quota, idempotency, choice and binding of a whole batch in one round trip and one
-- commit.
-- The requests stand side by side, sorted by organization and session in bytes, no session twice. hash null: /resume,
-- and env null with it. slot and epoch: one that this replica leases, or null.
-- abandon: a claim of this session whose activation failed. It is ended first, in the same commit, so that its place
-- cannot be taken meanwhile.
--
-- outcome, one row a request, n from 1:
--   bound: new. replay: the session's live claim. mismatch: it was made, or waits, with another body.
--   queued: none is ready, or others wait; the session has its place in the queue, under claim_id.
--   quota: it costs more than the limit (cap says which), or over a hundred requests wait beyond the limit.
--   missing: only for /resume; unknown or stopped.
-- A leased slot is taken only as it was leased: ready, this holder, this epoch, not expired. lost: it was not, and the
-- request got another slot or a place in the queue.
-- A request that comes while others wait for the pool waits behind them, also with a lease in hand. One at its
-- organization's limit takes a place in the queue too, and nobody binds while a request of the same organization waits
-- for the same pool.
-- api_key and environment are null for a new session: it has what was sent.
--
-- Plain statements with plain conditions, so that their plans are made once a connection. One that joins or searches
-- an array is planned again at every call, which costs more than the rest.
CREATE OR REPLACE FUNCTION runtime.bind_batch(
  p_replica text, p_orgs text[], p_sessions text[], p_pools text[], p_claims text[], p_runtimes text[], p_hashes text[], p_keys bytea[], p_envs bytea[],
  p_costs integer[], p_lanes text[], p_slots text[], p_epochs integer[], p_abandons text[], p_deadline_ms integer, p_default_cap integer
)
RETURNS TABLE (n integer, outcome text, lost boolean, cap integer, claim_id text, claim_state text, slot_id text, epoch integer, pod_name text, pod_uid text, address text,
  runtime_id text, api_key bytea, environment bytea, workspace_ref text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  s runtime.session;
  r record;
  v_count integer := cardinality(p_orgs);
  v_waited boolean;
  v_wanted text[];
  -- Organizations of the batch, side by side, with the first and the last of their requests.
  o_id text[] := '{}'; o_used integer[] := '{}'; o_before integer[]; o_cap integer[] := '{}'; o_first integer[] := '{}'; o_last integer[] := '{}';
  -- Of each request what its session had before, and what becomes of it: 't' wants a slot, 'q' has to wait, 'b' is bound, null is answered.
  k_fate text[] := array_fill(NULL::text, ARRAY[v_count]);
  k_known boolean[] := array_fill(false, ARRAY[v_count]);
  k_hash text[] := p_hashes; k_runtime text[] := p_runtimes; k_workspace text[] := k_fate; k_key bytea[]; k_env bytea[];
  k_slot text[] := k_fate; k_epoch integer[] := p_epochs; k_pod text[] := k_fate; k_uid text[] := k_fate; k_address text[] := k_fate;
  v_todo integer := 0;
  v_bound integer[];
  v_org text;
  v_pool text;
  v_free text;
  v_taken_over boolean;
  o integer;
BEGIN
  -- Whoever holds a row that long is stopped or lost: the others of the batch must not wait for him.
  PERFORM set_config('lock_timeout', '3s', true);
  SELECT q.waited, q.wanted INTO v_waited, v_wanted FROM runtime.look_at_queues() q;

  -- Every organization's row before anybody's session.
  FOR k IN 1..v_count LOOP
    IF p_orgs[k] IS DISTINCT FROM v_org THEN
      v_org := p_orgs[k];
      PERFORM set_config('app.org', v_org, true);
      SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO r FROM runtime.org_usage t WHERE t.org_id = v_org FOR UPDATE;
      IF NOT FOUND THEN
        INSERT INTO runtime.org_usage (org_id) VALUES (v_org) ON CONFLICT (org_id) DO NOTHING;
        SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO r FROM runtime.org_usage t WHERE t.org_id = v_org FOR UPDATE;
      END IF;
      o_id := o_id || v_org; o_used := o_used || r.in_use; o_cap := o_cap || r.cap; o_first := o_first || k; o_last := o_last || k;
    END IF;
    o_last[cardinality(o_id)] := k;
  END LOOP;
  o_before := o_used;

  FOR o IN 1..cardinality(o_id) LOOP
    v_org := o_id[o];
    IF cardinality(o_id) > 1 THEN PERFORM set_config('app.org', v_org, true); END IF;
    FOR k IN o_first[o]..o_last[o] LOOP
      n := k; lost := false; cap := NULL; claim_id := NULL;
      SELECT t.* INTO s FROM runtime.session t WHERE t.org_id = v_org AND t.session_id = p_sessions[k] FOR UPDATE;
      IF FOUND THEN
        IF s.claim_id = p_abandons[k] AND runtime.release_claim(v_org, p_abandons[k], true, 'lost', 'starting', 'the sandbox could not be activated') THEN
          -- The row has what was before the batch, less this one.
          SELECT t.in_use INTO r FROM runtime.org_usage t WHERE t.org_id = v_org;
          o_used[o] := o_used[o] - o_before[o] + r.in_use;
          o_before[o] := r.in_use;
        END IF;
        SELECT c.request_hash, c.claim_id, c.state, c.epoch, v.slot_id, v.pod_name, v.pod_uid, v.address INTO r
          FROM runtime.claim c JOIN runtime.slot v ON v.slot_id = c.slot_id WHERE c.claim_id = s.claim_id AND c.ended_at IS NULL;
        IF FOUND THEN
          RETURN QUERY SELECT k, CASE WHEN p_hashes[k] IS NULL OR r.request_hash = p_hashes[k] THEN 'replay' ELSE 'mismatch' END, false, NULL::integer,
            r.claim_id, r.state, r.slot_id, r.epoch, r.pod_name, r.pod_uid, r.address, s.runtime_id, s.api_key, s.environment, s.workspace_ref;
          CONTINUE;
        END IF;
        k_known[k] := true;
        IF s.status <> 'stopped' THEN k_hash[k] := coalesce(p_hashes[k], s.request_hash); END IF;
        k_runtime[k] := s.runtime_id;
        k_workspace[k] := s.workspace_ref;
        k_key[k] := s.api_key;
        k_env[k] := coalesce(p_envs[k], s.environment);
      END IF;
      IF k_hash[k] IS NULL THEN
        outcome := 'missing'; RETURN NEXT;
        CONTINUE;
      END IF;
      IF v_waited THEN
        SELECT t.request_hash, t.claim_id, t.seen_at > now() - interval '10 seconds' AS fresh INTO r FROM runtime.waiting t WHERE t.org_id = v_org AND t.session_id = p_sessions[k];
        IF FOUND AND r.fresh THEN
          outcome := CASE WHEN p_hashes[k] IS NULL OR coalesce(r.request_hash, s.request_hash) = p_hashes[k] THEN 'queued' ELSE 'mismatch' END;
          IF outcome = 'queued' THEN UPDATE runtime.waiting t SET seen_at = now() WHERE t.org_id = v_org AND t.session_id = p_sessions[k]; END IF;
          claim_id := r.claim_id; RETURN NEXT;
          CONTINUE;
        END IF;
        IF FOUND THEN DELETE FROM runtime.waiting t WHERE t.org_id = v_org AND t.session_id = p_sessions[k]; END IF;
      END IF;
      IF p_costs[k] > o_cap[o] THEN
        outcome := 'quota'; cap := o_cap[o]; RETURN NEXT;
        CONTINUE;
      END IF;
      -- At the limit, or behind its own organization: looked at under the organization's row, which whoever ends a claim holds as well. So nobody comes between that and the first in the queue.
      IF o_used[o] + p_costs[k] > o_cap[o] OR p_pools[k] = ANY (v_wanted) OR EXISTS (
        SELECT 1 FROM runtime.waiting t WHERE t.org_id = v_org AND t.pool_id = p_pools[k] AND t.seen_at > now() - interval '10 seconds'
      ) THEN
        k_fate[k] := 'q';
      ELSE
        -- Counted until it is known that there is no slot.
        k_fate[k] := 't';
        v_todo := v_todo + 1;
        o_used[o] := o_used[o] + p_costs[k];
      END IF;
    END LOOP;
  END LOOP;

  -- Those that were leased for it.
  FOR k IN 1..v_count LOOP
    CONTINUE WHEN v_todo = 0 OR p_slots[k] IS NULL OR k_fate[k] IS DISTINCT FROM 't';
    PERFORM 1 FROM runtime.slot v WHERE v.slot_id = p_slots[k] AND v.epoch = p_epochs[k] AND v.state = 'ready' AND v.holder = p_replica AND v.lease_until > clock_timestamp()
      FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    k_slot[k] := p_slots[k];
    k_fate[k] := 'b';
    v_todo := v_todo - 1;
  END LOOP;
  -- For the others those that nobody leases, then those that somebody else does.
  FOREACH v_taken_over IN ARRAY ARRAY[false, true] LOOP
    FOR k IN 1..v_count LOOP
      CONTINUE WHEN v_todo = 0 OR k_fate[k] IS DISTINCT FROM 't';
      v_pool := p_pools[k];
      SELECT v.slot_id INTO v_free FROM runtime.slot v
        WHERE v.pool_id = v_pool AND v.state = 'ready' AND (v_taken_over OR v.holder IS NULL OR v.lease_until < clock_timestamp()) AND v.slot_id <> ALL (array_remove(k_slot, NULL))
        ORDER BY v.warmed_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      k_slot[k] := v_free;
      k_fate[k] := 'b';
      v_todo := v_todo - 1;
    END LOOP;
  END LOOP;

  FOR o IN 1..cardinality(o_id) LOOP
    v_org := o_id[o];
    v_bound := '{}';
    IF cardinality(o_id) > 1 THEN PERFORM set_config('app.org', v_org, true); END IF;
    FOR k IN o_first[o]..o_last[o] LOOP
      IF k_fate[k] = 't' THEN
        k_fate[k] := 'q';
        o_used[o] := o_used[o] - p_costs[k];
      END IF;
      CONTINUE WHEN k_fate[k] IS DISTINCT FROM 'b';
      v_bound := v_bound || k;
      UPDATE runtime.slot v SET state = 'bound', epoch = v.epoch + 1, claim_id = p_claims[k], changed_at = now() WHERE v.slot_id = k_slot[k]
        RETURNING v.epoch, v.pod_name, v.pod_uid, v.address INTO STRICT r;
      k_epoch[k] := r.epoch; k_pod[k] := r.pod_name; k_uid[k] := r.pod_uid;
      RETURN QUERY SELECT k, 'bound', p_slots[k] IS NOT NULL AND p_slots[k] <> k_slot[k], NULL::integer, p_claims[k], 'bound', k_slot[k], r.epoch, r.pod_name, r.pod_uid, r.address,
        k_runtime[k], k_key[k], k_env[k], coalesce(k_workspace[k], r.pod_name);
    END LOOP;
    IF cardinality(v_bound) > 0 THEN
      INSERT INTO runtime.claim (claim_id, org_id, session_id, request_hash, slot_id, epoch, cost, deadline)
        SELECT p_claims[k], v_org, p_sessions[k], k_hash[k], k_slot[k], k_epoch[k], p_costs[k], now() + p_deadline_ms * interval '1 millisecond' FROM unnest(v_bound) AS k;
      -- An empty environment is none: that of before counts.
      INSERT INTO runtime.session AS e (org_id, session_id, runtime_id, claim_id, request_hash, status, api_key, environment, workspace_ref, pool_id)
        SELECT v_org, p_sessions[k], k_runtime[k], p_claims[k], k_hash[k], 'starting', p_keys[k], coalesce(p_envs[k], ''), k_pod[k], p_pools[k] FROM unnest(v_bound) AS k
        ON CONFLICT (org_id, session_id) DO UPDATE SET claim_id = excluded.claim_id, request_hash = excluded.request_hash,
          environment = CASE WHEN excluded.environment = '' THEN e.environment ELSE excluded.environment END,
          workspace_ref = coalesce(e.workspace_ref, excluded.workspace_ref), pool_id = excluded.pool_id, status = 'starting', status_detail = NULL, changed_at = now();
      INSERT INTO runtime.sandbox_note (slot_id, org_id, session_id, claim_id, pod_name, pod_uid)
        SELECT k_slot[k], v_org, p_sessions[k], p_claims[k], k_pod[k], k_uid[k] FROM unnest(v_bound) AS k;
      UPDATE runtime.org_usage SET in_use = o_used[o] WHERE org_id = v_org;
    ELSIF cardinality(o_id) = 1 AND array_remove(p_abandons, NULL) = '{}' THEN
      -- Nothing that has to be on the disk before the answer.
      PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    FOR k IN o_first[o]..o_last[o] LOOP
      CONTINUE WHEN k_fate[k] IS DISTINCT FROM 'q';
      n := k; lost := p_slots[k] IS NOT NULL; cap := NULL; claim_id := NULL;
      -- So many may wait beyond what the organization may hold: a client in a loop must not fill the table.
      IF (SELECT count(*) FROM runtime.waiting t WHERE t.org_id = v_org) >= o_cap[o] + 100 THEN
        outcome := 'quota'; cap := o_cap[o]; RETURN NEXT;
        CONTINUE;
      END IF;
      INSERT INTO runtime.waiting (org_id, session_id, pool_id, claim_id, runtime_id, request_hash, api_key, environment, cost, lane, default_cap)
        VALUES (v_org, p_sessions[k], p_pools[k], p_claims[k], p_runtimes[k], p_hashes[k], p_keys[k], coalesce(p_envs[k], ''), p_costs[k], p_lanes[k], p_default_cap)
        -- Another replica has given the same session a place since the queues were looked at: it keeps that one.
        ON CONFLICT ON CONSTRAINT waiting_pkey DO UPDATE SET seen_at = now() RETURNING waiting.claim_id, waiting.request_hash INTO r;
      IF r.claim_id <> p_claims[k] THEN
        outcome := CASE WHEN p_hashes[k] IS NULL OR coalesce(r.request_hash, k_hash[k]) = p_hashes[k] THEN 'queued' ELSE 'mismatch' END;
        claim_id := r.claim_id; RETURN NEXT;
        CONTINUE;
      END IF;
      -- One at the limit can use no sandbox that a replica holds back.
      IF o_used[o] + p_costs[k] <= o_cap[o] THEN PERFORM pg_notify('slipway_runtime', 'wanted ' || p_pools[k]); END IF;
      outcome := 'queued'; claim_id := p_claims[k]; RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;
