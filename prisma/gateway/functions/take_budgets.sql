-- One turn of a replica with the authority: one commit, under the locks of the accounts in the order of their ids.
-- p_back: [{a: account, n: ticks given back, s: the recall that it answers}]. p_refill: [{a, n: ticks wanted
-- besides}].
-- p_calls: [{a: [accounts], w: ticks, m: least ticks that are of use, r: round, f: freed and t: room at its start, c:
-- that round was clean}], first come, first served.
-- Returns {gone} when the replica has lapsed, else
--   calls: [{g: granted} | {stale} | {wait, a, r, f, t, c} | {a, limit, spent, least, ends, kind}], the last refused;
--   refill: [{a, n, tight}].
-- A call is refused when there was no room at the start of a round in which no other replica could spend by itself,
-- nor in all that was given back in that round.
CREATE OR REPLACE FUNCTION gateway.take_budgets(p_replica uuid, p_turn bigint, p_at timestamptz, p_back jsonb, p_calls jsonb, p_refill jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
  v_room bigint[];
  v_limit bigint[];
  v_taken bigint[];
  v_loose boolean[];
  v_round bigint[];
  v_freed bigint[];
  v_replicas integer;
  v_calls jsonb := '[]';
  v_refill jsonb := '[]';
  r jsonb;
  v_at integer;
  v_least bigint;
  v_where integer;
  v_stale boolean;
  v_grant bigint;
  v_account bigint;
  v_others boolean;
  v_others_loose boolean;
  v_unanswered boolean;
  v_turn bigint;
  v_answer jsonb;
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  SELECT p.turn, p.answer INTO v_turn, v_answer FROM gateway.budget_replica p WHERE p.id = p_replica FOR UPDATE;
  IF NOT FOUND THEN RETURN '{"gone": true}'; END IF;
  IF p_turn <= v_turn THEN RETURN v_answer; END IF;
  SELECT count(*) INTO v_replicas FROM gateway.budget_replica WHERE beat_at > now() - interval '15 seconds';
  v_replicas := greatest(v_replicas, 1);
  PERFORM 1 FROM gateway.budget_account x WHERE x.id IN (
    SELECT (e->>'a')::bigint FROM jsonb_array_elements(p_back) e UNION ALL SELECT (e->>'a')::bigint FROM jsonb_array_elements(p_refill) e
    UNION ALL SELECT a::bigint FROM jsonb_array_elements(p_calls) e, jsonb_array_elements_text(e->'a') a
  ) ORDER BY x.id FOR UPDATE;
  IF jsonb_array_length(p_back) > 0 THEN
    INSERT INTO gateway.budget_lease AS l (account, replica, org_id, held, answered)
      SELECT x.id, p_replica, x.org_id, -e.n, e.s FROM jsonb_to_recordset(p_back) e(a bigint, n bigint, s bigint) JOIN gateway.budget_account x ON x.id = e.a
    ON CONFLICT (account, replica) DO UPDATE SET held = l.held + excluded.held, loose = false, answered = greatest(l.answered, excluded.answered);
    UPDATE gateway.budget_account x SET freed = x.freed + greatest(e.n, 0) FROM jsonb_to_recordset(p_back) e(a bigint, n bigint, s bigint) WHERE x.id = e.a AND e.n > 0;
    PERFORM pg_notify('slipway_gateway', 'freed ' || e.a) FROM jsonb_to_recordset(p_back) e(a bigint, n bigint, s bigint) JOIN gateway.budget_account x ON x.id = e.a
      WHERE x.recalls > 0 AND (e.n > 0 OR e.s > 0);
  END IF;
  SELECT array_agg(q.id), array_agg(CASE WHEN q.allowed IS NULL THEN NULL ELSE q.allowed - q.spent - q.held END), array_agg(q.allowed), array_agg(q.recalls), array_agg(q.freed)
  INTO v_ids, v_room, v_limit, v_round, v_freed
  FROM (
    SELECT x.id, x.spent, x.recalls, x.freed, coalesce((SELECT sum(greatest(l.held, 0)) FROM gateway.budget_lease l WHERE l.account = x.id), 0)::bigint AS held,
      (SELECT (b.limit_usd * 10000000000)::bigint FROM (
         SELECT g.* FROM gateway.budget g WHERE g.org_id = x.org_id AND g.kind = x.kind AND (g.subject = x.subject OR (g.subject = '' AND g.kind IN ('member', 'conversation'))) ORDER BY g.subject DESC LIMIT 1
       ) b, gateway.budget_cycle(b.period, b.reset_day, b.seconds, b.anchor, p_at) c WHERE c.starts = x.cycle_start AND c.ends = x.cycle_end) AS allowed
    FROM gateway.budget_account x
    WHERE x.id IN (
      SELECT (e->>'a')::bigint FROM jsonb_array_elements(p_refill) e UNION ALL SELECT a::bigint FROM jsonb_array_elements(p_calls) e, jsonb_array_elements_text(e->'a') a
    ) ORDER BY x.id
  ) q;
  IF v_ids IS NULL THEN
    SELECT coalesce(jsonb_agg('{"stale": true}'::jsonb), '[]') INTO v_calls FROM jsonb_array_elements(p_calls);
    v_answer := jsonb_build_object('calls', v_calls, 'refill', v_refill);
    UPDATE gateway.budget_replica SET turn = p_turn, answer = v_answer WHERE id = p_replica;
    RETURN v_answer;
  END IF;
  v_taken := array_fill(0::bigint, ARRAY[cardinality(v_ids)]);
  v_loose := array_fill(false, ARRAY[cardinality(v_ids)]);

  FOR r IN SELECT * FROM jsonb_array_elements(p_calls) LOOP
    v_least := NULL;
    v_stale := false;
    FOR v_account IN SELECT a::bigint FROM jsonb_array_elements_text(r->'a') a LOOP
      v_at := array_position(v_ids, v_account);
      -- No such account any more, or another cycle or no limit by now: the caller looks again at what limits it.
      IF v_at IS NULL OR v_room[v_at] IS NULL THEN v_stale := true;
      ELSIF v_least IS NULL OR v_room[v_at] < v_least THEN
        v_least := v_room[v_at];
        v_where := v_at;
      END IF;
    END LOOP;
    IF v_stale THEN
      v_calls := v_calls || '{"stale": true}'::jsonb;
      CONTINUE;
    END IF;
    v_grant := CASE WHEN v_least >= (r->>'w')::bigint THEN (r->>'w')::bigint WHEN v_least >= (r->>'m')::bigint THEN v_least END;
    IF v_grant IS NOT NULL THEN
      FOR v_account IN SELECT a::bigint FROM jsonb_array_elements_text(r->'a') a LOOP
        v_at := array_position(v_ids, v_account);
        v_room[v_at] := v_room[v_at] - v_grant;
        v_taken[v_at] := v_taken[v_at] + v_grant;
      END LOOP;
      v_calls := v_calls || jsonb_build_object('g', v_grant);
      CONTINUE;
    END IF;
    v_account := v_ids[v_where];
    SELECT count(*) > 0, coalesce(bool_or(l.loose), false), coalesce(bool_or(l.answered < (r->>'r')::bigint), false) INTO v_others, v_others_loose, v_unanswered
    FROM gateway.budget_lease l JOIN gateway.budget_replica p ON p.id = l.replica
    WHERE l.account = v_account AND l.replica <> p_replica AND l.held > 0 AND p.beat_at > now() - interval '60 seconds';
    IF (r->>'r')::bigint > 0 AND (r->>'b')::bigint = v_account AND v_unanswered THEN
      v_calls := v_calls || jsonb_build_object('wait', true, 'a', v_account, 'r', r->'r', 'f', r->'f', 't', r->'t', 'c', r->'c');
    ELSIF (r->>'r')::bigint > 0 AND (r->>'b')::bigint = v_account AND (r->>'c')::boolean AND (r->>'t')::bigint + v_freed[v_where] - (r->>'f')::bigint < (r->>'m')::bigint THEN
      v_calls := v_calls || (
        SELECT jsonb_build_object('a', v_account, 'limit', v_limit[v_where], 'spent', x.spent, 'ends', x.cycle_end, 'kind', x.kind, 'subject', x.subject)
        FROM gateway.budget_account x WHERE x.id = v_account);
    ELSE
      -- One recall a turn and account is enough for all its calls. Where nobody else holds anything nobody is asked: what came free here meanwhile comes with the next turn.
      IF v_others AND v_round[v_where] = (SELECT x.recalls FROM gateway.budget_account x WHERE x.id = v_account) THEN
        v_round[v_where] := v_round[v_where] + 1;
      END IF;
      v_calls := v_calls
        || jsonb_build_object('wait', true, 'a', v_account, 'r', greatest(v_round[v_where], 1), 'f', v_freed[v_where], 't', v_room[v_where], 'c', NOT v_others_loose, 'alone', NOT v_others);
    END IF;
  END LOOP;

  FOR r IN SELECT * FROM jsonb_array_elements(p_refill) LOOP
    v_at := array_position(v_ids, (r->>'a')::bigint);
    IF v_at IS NULL OR v_room[v_at] IS NULL THEN CONTINUE; END IF;
    v_grant := least((r->>'n')::bigint, v_room[v_at] / (4 * v_replicas));
    -- Less than a quarter of what it would like is not worth a lease: near the limit each call asks.
    IF v_grant < (r->>'n')::bigint / 4 OR v_grant <= 0 THEN
      v_refill := v_refill || jsonb_build_object('a', r->'a', 'n', 0);
      CONTINUE;
    END IF;
    v_room[v_at] := v_room[v_at] - v_grant;
    v_taken[v_at] := v_taken[v_at] + v_grant;
    v_loose[v_at] := true;
    v_refill := v_refill || jsonb_build_object('a', r->'a', 'n', v_grant);
  END LOOP;

  -- Who held nothing has nothing to answer to what was asked until now, and may not have heard it.
  INSERT INTO gateway.budget_lease AS l (account, replica, org_id, held, loose, answered)
    SELECT x.id, p_replica, x.org_id, t.taken, t.loose, x.recalls FROM unnest(v_ids, v_taken, v_loose) t(id, taken, loose) JOIN gateway.budget_account x ON x.id = t.id WHERE t.taken <> 0
  ON CONFLICT (account, replica) DO UPDATE SET held = l.held + excluded.held, loose = l.loose OR excluded.loose,
    answered = CASE WHEN l.held <= 0 THEN greatest(l.answered, excluded.answered) ELSE l.answered END;
  PERFORM pg_notify('slipway_gateway', 'recall ' || x.id || ' ' || t.round) FROM unnest(v_ids, v_round) t(id, round) JOIN gateway.budget_account x ON x.id = t.id WHERE t.round > x.recalls;
  UPDATE gateway.budget_account x SET recalls = t.round FROM unnest(v_ids, v_round) t(id, round) WHERE x.id = t.id AND t.round > x.recalls;
  v_answer := jsonb_build_object('calls', v_calls, 'refill', v_refill);
  UPDATE gateway.budget_replica SET turn = p_turn, answer = v_answer WHERE id = p_replica;
  RETURN v_answer;
END $$;
