-- slipway: expand-only
-- Budgets that cannot be overrun: what may be spent is reserved before a call and settled by its row of the ledger. Limits of calls and tokens a minute. More dimensions of the ledger.
-- Amounts in bigint are ticks: 1e-10 USD, the smallest place of ledger.cost_usd.

ALTER TABLE gateway.virtual_key ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';
ALTER TABLE gateway.virtual_key ADD COLUMN blocked boolean NOT NULL DEFAULT false;
-- Keys of providers that are the caller's own; opens with the key itself alone (keys/own-providers.ts).
ALTER TABLE gateway.virtual_key ADD COLUMN sealed_providers bytea;

ALTER TABLE gateway.ledger ADD COLUMN repository text;
ALTER TABLE gateway.ledger ADD COLUMN pull_request text;
ALTER TABLE gateway.ledger ADD COLUMN integration text;
-- What the agent called for: agent, condenser, title ….
ALTER TABLE gateway.ledger ADD COLUMN purpose text NOT NULL DEFAULT 'agent';
ALTER TABLE gateway.ledger ADD COLUMN deployment text;
ALTER TABLE gateway.ledger ADD COLUMN attempts integer NOT NULL DEFAULT 1;
-- Part of prompt_tokens, and of completion_tokens.
ALTER TABLE gateway.ledger ADD COLUMN cache_write_tokens integer NOT NULL DEFAULT 0;
ALTER TABLE gateway.ledger ADD COLUMN reasoning_tokens integer NOT NULL DEFAULT 0;
-- Answered from the gateway's own cache: it cost nothing.
ALTER TABLE gateway.ledger ADD COLUMN from_cache boolean NOT NULL DEFAULT false;
-- The replica that had reserved the cost, and the accounts it had reserved it in.
ALTER TABLE gateway.ledger ADD COLUMN holder uuid;
ALTER TABLE gateway.ledger ADD COLUMN accounts bigint[] NOT NULL DEFAULT '{}';
CREATE INDEX ledger_org_id_user_id_started_at_idx ON gateway.ledger (org_id, user_id, started_at DESC);
CREATE INDEX ledger_key_id_idx ON gateway.ledger (key_id);

-- Who may spend how much in which time. Of kinds member and conversation the subject '' is the default of each that has no row of its own.
CREATE TABLE gateway.budget (
  org_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('org', 'member', 'key', 'conversation')),
  subject text NOT NULL,
  -- Null: no limit, also where a default would be.
  limit_usd numeric(20,10),
  -- seconds: again and again, counted from anchor.
  period text NOT NULL CHECK (period IN ('month', 'day', 'total', 'seconds')),
  reset_day integer NOT NULL DEFAULT 1 CHECK (reset_day BETWEEN 1 AND 28),
  seconds integer CHECK (seconds > 0),
  anchor timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, kind, subject)
);

-- What one of them has spent in one cycle: a view of the ledger that is kept with each of its rows (gateway.charge_accounts). Made at the first look.
CREATE TABLE gateway.budget_account (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id text NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  cycle_start timestamptz(3) NOT NULL,
  cycle_end timestamptz(3) NOT NULL,
  spent bigint NOT NULL,
  -- How often all who hold a part were asked to give back what they do not use.
  recalls bigint NOT NULL DEFAULT 0,
  -- All that was ever given back.
  freed bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX budget_account_key ON gateway.budget_account (org_id, kind, subject, cycle_start, cycle_end);
CREATE INDEX budget_account_cycle_end_idx ON gateway.budget_account (cycle_end);

-- A life of a gateway's process. Without a beat for the time that its holds live, what it holds is free again.
CREATE TABLE gateway.budget_replica (
  id uuid PRIMARY KEY,
  beat_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Its last turn with the authority and what that was answered: a turn whose answer was lost is sent again and changes nothing.
  turn bigint NOT NULL DEFAULT 0,
  answer jsonb
);

-- What a replica may spend of an account without asking: free there, reserved by its calls, or spent by calls that are not in the ledger yet.
-- Changed under the lock of its account alone.
CREATE TABLE gateway.budget_lease (
  account bigint NOT NULL,
  replica uuid NOT NULL,
  org_id text NOT NULL,
  -- Below zero when calls came to more than was reserved; counts as zero.
  held bigint NOT NULL DEFAULT 0,
  -- It may admit calls from this by itself.
  loose boolean NOT NULL DEFAULT false,
  -- The last recall after which it had given all back.
  answered bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account, replica)
);
CREATE INDEX budget_lease_replica_idx ON gateway.budget_lease (replica);

-- Calls and tokens a minute. Of kind model the subject is its name, and the limit is that of the organization's calls to it.
CREATE TABLE gateway.rate_limit (
  org_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('org', 'member', 'key', 'model')),
  subject text NOT NULL,
  rpm integer CHECK (rpm > 0),
  tpm integer CHECK (tpm > 0),
  PRIMARY KEY (org_id, kind, subject)
);

-- How full a limit's bucket was at a moment. Full again after a crash of the database, so it needs no log.
CREATE UNLOGGED TABLE gateway.rate_bucket (
  org_id text NOT NULL,
  -- `key key_… rpm`
  name text NOT NULL,
  level double precision NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (org_id, name)
);

-- An organization and its people as LiteLLM's routes name them: team and user. What is not told of them is not there.
CREATE TABLE gateway.team (
  org_id text PRIMARY KEY,
  alias text,
  -- Empty means every model.
  models text[] NOT NULL DEFAULT '{}',
  metadata jsonb NOT NULL DEFAULT '{}',
  blocked boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE TABLE gateway.person (
  org_id text NOT NULL,
  user_id text NOT NULL,
  alias text,
  email text,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['team', 'person', 'budget', 'budget_account', 'budget_lease', 'rate_limit', 'rate_bucket'] LOOP
    EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE gateway.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON gateway.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON gateway.%I TO slipway_gateway_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.%I TO slipway_gateway, slipway_gateway_system', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.budget_replica TO slipway_gateway, slipway_gateway_system;

-- The cycle that a moment lies in.
CREATE FUNCTION gateway.budget_cycle(p_period text, p_reset_day integer, p_seconds integer, p_anchor timestamptz, p_at timestamptz, OUT starts timestamptz, OUT ends timestamptz)
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_period
      WHEN 'month' THEN (date_trunc('month', (p_at AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day') AT TIME ZONE 'UTC'
      WHEN 'day' THEN date_trunc('day', p_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
      WHEN 'seconds' THEN p_anchor + floor(extract(epoch FROM p_at - p_anchor) / p_seconds) * p_seconds * interval '1 second'
      ELSE '1970-01-01 00:00:00+00'::timestamptz END,
    CASE p_period
      WHEN 'month' THEN (date_trunc('month', (p_at AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day' + interval '1 month') AT TIME ZONE 'UTC'
      WHEN 'day' THEN (date_trunc('day', p_at AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC'
      WHEN 'seconds' THEN p_anchor + (floor(extract(epoch FROM p_at - p_anchor) / p_seconds) + 1) * p_seconds * interval '1 second'
      ELSE '9999-01-01 00:00:00+00'::timestamptz END
$$;

-- The budgets that limit a call at p_at, each with its account.
CREATE FUNCTION gateway.open_budgets(p_org text, p_user text, p_key text, p_conversation text, p_at timestamptz)
RETURNS TABLE (account bigint, kind text, subject text, cycle_end timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  b record;
  c record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  FOR b IN
    SELECT DISTINCT ON (g.kind) g.*, CASE g.kind WHEN 'member' THEN p_user WHEN 'key' THEN p_key WHEN 'conversation' THEN p_conversation ELSE '' END AS whose
    FROM gateway.budget g
    WHERE g.org_id = p_org
      AND (g.kind = 'org' OR (g.kind = 'member' AND p_user IS NOT NULL AND g.subject IN ('', p_user)) OR (g.kind = 'key' AND g.subject = p_key) OR (g.kind = 'conversation' AND g.subject IN ('', p_conversation)))
    ORDER BY g.kind, g.subject DESC
  LOOP
    IF b.limit_usd IS NULL THEN CONTINUE; END IF;
    SELECT * INTO c FROM gateway.budget_cycle(b.period, b.reset_day, b.seconds, b.anchor, p_at);
    account := NULL;
    SELECT a.id INTO account FROM gateway.budget_account a WHERE a.org_id = p_org AND a.kind = b.kind AND a.subject = b.whose AND a.cycle_start = c.starts AND a.cycle_end = c.ends;
    IF account IS NULL THEN
      -- Nobody writes the ledger for this moment: what is counted here is not counted again by gateway.charge_accounts, and nothing is missed.
      PERFORM pg_advisory_xact_lock(hashtextextended('gateway.ledger', 0));
      INSERT INTO gateway.budget_account (org_id, kind, subject, cycle_start, cycle_end, spent)
        SELECT p_org, b.kind, b.whose, c.starts, c.ends, gateway.spent_of(p_org, b.kind, b.whose, c.starts, c.ends)
      ON CONFLICT DO NOTHING;
      SELECT a.id INTO account FROM gateway.budget_account a WHERE a.org_id = p_org AND a.kind = b.kind AND a.subject = b.whose AND a.cycle_start = c.starts AND a.cycle_end = c.ends;
    END IF;
    kind := b.kind;
    subject := b.whose;
    cycle_end := c.ends;
    RETURN NEXT;
  END LOOP;
END $$;

-- Ticks that the ledger says. Sees what the caller sees.
CREATE FUNCTION gateway.spent_of(p_org text, p_kind text, p_subject text, p_from timestamptz, p_to timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE v_sum numeric;
BEGIN
  IF p_kind = 'org' THEN SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.started_at >= p_from AND l.started_at < p_to;
  ELSIF p_kind = 'member' THEN
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.user_id = p_subject AND l.started_at >= p_from AND l.started_at < p_to;
  ELSIF p_kind = 'key' THEN
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.key_id = p_subject AND l.started_at >= p_from AND l.started_at < p_to;
  ELSE
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.conversation_id = p_subject::uuid AND l.started_at >= p_from AND l.started_at < p_to;
  END IF;
  RETURN (coalesce(v_sum, 0) * 10000000000)::bigint;
END $$;

-- Counts new rows of the ledger in the accounts that they belong to, in their commit, and takes them from what their replica holds. A trigger, so that every version of the gateway does it.
CREATE FUNCTION gateway.charge_accounts() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE v_ids bigint[];
BEGIN
  SELECT array_agg(DISTINCT a.id) INTO v_ids
  FROM stored n
  CROSS JOIN LATERAL (VALUES ('org', ''), ('member', n.user_id), ('key', n.key_id), ('conversation', n.conversation_id::text)) w(kind, subject)
  JOIN gateway.budget_account a ON a.org_id = n.org_id AND a.kind = w.kind AND a.subject = w.subject
  WHERE n.cost_usd > 0;
  IF v_ids IS NULL THEN RETURN NULL; END IF;
  PERFORM 1 FROM gateway.budget_account a WHERE a.id = ANY (v_ids) ORDER BY a.id FOR UPDATE;
  UPDATE gateway.budget_account a SET spent = a.spent + s.cost
  FROM (
    SELECT x.id, (sum(n.cost_usd) * 10000000000)::bigint AS cost
    FROM stored n
    CROSS JOIN LATERAL (VALUES ('org', ''), ('member', n.user_id), ('key', n.key_id), ('conversation', n.conversation_id::text)) w(kind, subject)
    JOIN gateway.budget_account x ON x.id = ANY (v_ids) AND x.org_id = n.org_id AND x.kind = w.kind AND x.subject = w.subject
      AND n.started_at >= x.cycle_start AND n.started_at < x.cycle_end
    GROUP BY x.id
  ) s WHERE a.id = s.id;
  UPDATE gateway.budget_lease l SET held = l.held - s.cost
  FROM (
    SELECT u.account, n.holder, (sum(n.cost_usd) * 10000000000)::bigint AS cost FROM stored n CROSS JOIN LATERAL unnest(n.accounts) u(account) GROUP BY u.account, n.holder
  ) s WHERE l.account = s.account AND l.replica = s.holder;
  RETURN NULL;
END $$;
CREATE TRIGGER charge_accounts AFTER INSERT ON gateway.ledger REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION gateway.charge_accounts();

-- One turn of a replica with the authority; all in it is one commit, under the locks of the accounts in the order of their ids.
-- p_back: [{a: account, n: ticks that it gives back, s: the recall it answers}]. p_refill: [{a, n: ticks it would like to hold besides}].
-- p_calls: [{a: [accounts], w: ticks, m: least ticks that are of use, r: round, f: freed and t: room at its start, c: that round was clean}], first come, first served.
-- Answers {gone} when the replica has lapsed, else
--   calls: [{g: granted} | {stale} | {wait, a, r, f, t, c} | {a, limit, spent, least, ends, kind}], the last refused; refill: [{a, n, tight}].
-- Refused is a call for which there was no room at the start of a round at which nobody else could spend by itself, also with all that came back in that round.
CREATE FUNCTION gateway.take_budgets(p_replica uuid, p_turn bigint, p_at timestamptz, p_back jsonb, p_calls jsonb, p_refill jsonb) RETURNS jsonb
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

-- Frees what replicas hold that have not said for p_hold seconds that they live, and forgets cycles that are long over.
CREATE FUNCTION gateway.reap_replicas(p_hold double precision) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_dead uuid[];
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  SELECT array_agg(p.id) INTO v_dead FROM gateway.budget_replica p WHERE p.beat_at < now() - p_hold * interval '1 second';
  IF v_dead IS NOT NULL THEN PERFORM gateway.end_replicas(v_dead); END IF;
  DELETE FROM gateway.budget_account x WHERE x.cycle_end < now() - interval '40 days' AND NOT EXISTS (SELECT 1 FROM gateway.budget_lease l WHERE l.account = x.id);
END $$;

-- Frees all that replicas hold. Theirs must be in the ledger by then; what comes later is counted all the same.
CREATE FUNCTION gateway.end_replicas(p_replicas uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  -- Whoever takes for one of them waits here or finds it gone.
  PERFORM 1 FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas) ORDER BY p.id FOR UPDATE;
  PERFORM 1 FROM gateway.budget_account x WHERE x.id IN (SELECT l.account FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas)) ORDER BY x.id FOR UPDATE;
  UPDATE gateway.budget_account x SET freed = x.freed + s.held
    FROM (SELECT l.account, sum(greatest(l.held, 0))::bigint AS held FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas) GROUP BY l.account) s WHERE x.id = s.account;
  PERFORM pg_notify('slipway_gateway', 'freed ' || l.account) FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas);
END $$;

-- Takes from buckets that fill evenly within a minute, each named once. p_takes: [{o: org, k: name, c: what it holds when full, w: would like, d: is taken without asking, or given back when below zero}].
-- Answers [{g: taken of what it would like, l: level after it}].
CREATE FUNCTION gateway.take_rates(p_takes jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE v_answer jsonb;
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  INSERT INTO gateway.rate_bucket AS b (org_id, name, level, at)
    SELECT t.o, t.k, t.c - t.d, clock_timestamp() FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision, d double precision) ORDER BY t.o, t.k
  ON CONFLICT (org_id, name) DO UPDATE SET
    level = least((SELECT t.c FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision) WHERE t.o = b.org_id AND t.k = b.name),
      b.level + (SELECT t.c / 60 * greatest(0, extract(epoch FROM excluded.at - b.at)) - t.d FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision, d double precision) WHERE t.o = b.org_id AND t.k = b.name)),
    at = greatest(b.at, excluded.at);
  WITH taken AS (
    SELECT e.n, e.t->>'o' AS o, e.t->>'k' AS k, b.level, greatest(0, least((e.t->>'w')::double precision, b.level)) AS g
    FROM jsonb_array_elements(p_takes) WITH ORDINALITY e(t, n) JOIN gateway.rate_bucket b ON b.org_id = e.t->>'o' AND b.name = e.t->>'k'
  ), changed AS (
    UPDATE gateway.rate_bucket b SET level = b.level - t.g FROM taken t WHERE b.org_id = t.o AND b.name = t.k AND t.g > 0
  )
  SELECT jsonb_agg(jsonb_build_object('g', t.g, 'l', t.level - t.g) ORDER BY t.n) INTO v_answer FROM taken t;
  RETURN coalesce(v_answer, '[]');
END $$;

-- A key by its id in one round trip, whatever its state, with all that limits it at p_at.
CREATE FUNCTION gateway.find_key_and_limits(p_id text, p_at timestamptz)
RETURNS TABLE (
  org_id text, conversation_id uuid, user_id text, models text[], hash bytea, expires_at timestamptz, revoked_at timestamptz, blocked boolean, metadata jsonb,
  sealed_providers bytea, stop_reason text, stop_until timestamptz, budgets jsonb, rates jsonb
)
LANGUAGE plpgsql AS $$
DECLARE
  k gateway.virtual_key;
  s gateway.budget_stop;
  g gateway.team;
  v_budgets jsonb;
  v_rates jsonb;
BEGIN
  PERFORM set_config('gateway.key_id', p_id, true);
  SELECT * INTO k FROM gateway.virtual_key v WHERE v.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM set_config('app.org', k.org_id, true);
  SELECT * INTO s FROM gateway.budget_stop b WHERE b.org_id = k.org_id AND b.user_id IN ('', coalesce(k.user_id, '')) AND b.until > now() ORDER BY b.user_id LIMIT 1;
  SELECT * INTO g FROM gateway.team t WHERE t.org_id = k.org_id;
  IF cardinality(g.models) > 0 THEN
    -- What a key of its own list may not use of its organization's is a model without a name.
    k.models := CASE WHEN cardinality(k.models) = 0 THEN g.models ELSE coalesce((SELECT array_agg(m) FROM unnest(k.models) m WHERE m = ANY (g.models)), '{""}') END;
  END IF;
  SELECT jsonb_agg(jsonb_build_object('account', o.account, 'kind', o.kind, 'until', extract(epoch FROM o.cycle_end) * 1000))
  INTO v_budgets FROM gateway.open_budgets(k.org_id, k.user_id, k.id, k.conversation_id::text, p_at) o;
  SELECT jsonb_agg(jsonb_build_object('kind', r.kind, 'subject', r.subject, 'rpm', r.rpm, 'tpm', r.tpm))
  INTO v_rates FROM gateway.rate_limit r
  WHERE r.org_id = k.org_id AND (r.kind IN ('org', 'model') OR (r.kind = 'member' AND r.subject = k.user_id) OR (r.kind = 'key' AND r.subject = k.id));
  RETURN QUERY SELECT k.org_id, k.conversation_id, k.user_id, k.models, k.hash, k.expires_at::timestamptz, k.revoked_at::timestamptz, k.blocked OR coalesce(g.blocked, false), k.metadata, k.sealed_providers, s.reason, s.until::timestamptz,
    coalesce(v_budgets, '[]'), coalesce(v_rates, '[]');
END $$;

-- Says at commit that what limits somebody of an organization is to be looked at again.
CREATE FUNCTION gateway.tell_limits() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_gateway', 'limits ' || coalesce(NEW.org_id, OLD.org_id));
  RETURN NULL;
END $$;
CREATE TRIGGER tell_limits AFTER INSERT OR UPDATE OR DELETE ON gateway.budget FOR EACH ROW EXECUTE FUNCTION gateway.tell_limits();
CREATE TRIGGER tell_limits AFTER INSERT OR UPDATE OR DELETE ON gateway.team FOR EACH ROW EXECUTE FUNCTION gateway.tell_limits();
CREATE TRIGGER tell_limits AFTER INSERT OR UPDATE OR DELETE ON gateway.rate_limit FOR EACH ROW EXECUTE FUNCTION gateway.tell_limits();
