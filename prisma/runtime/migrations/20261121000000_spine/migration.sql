-- The warm pool's tables, their row-level security, and the functions of its hot path.
-- Roles slipway_runtime (the service) and slipway_runtime_system (work across organizations, entered by SET LOCAL ROLE) exist before this runs: libs/db/src/migrate.
-- Locks are taken in one order everywhere: org_usage, session, claim, slot. Time is this server's and nobody else's.

-- One kind of blank sandbox. `template` says what it is made of: slots of an older template are replaced.
CREATE TABLE runtime.pool (
  pool_id text PRIMARY KEY,
  image text NOT NULL,
  template text NOT NULL,
  target integer NOT NULL CHECK (target >= 0),
  max_age_seconds integer NOT NULL CHECK (max_age_seconds > 0),
  changed_at timestamptz(3) NOT NULL DEFAULT now()
);

-- One sandbox, from the intent to make it until it is gone. Nothing of a tenant stands here.
-- holder and lease_until: for leasing chunks of ready slots to replicas; nothing writes them yet.
CREATE TABLE runtime.slot (
  slot_id text PRIMARY KEY,
  pool_id text NOT NULL REFERENCES runtime.pool,
  template text NOT NULL,
  pod_name text NOT NULL,
  pod_uid text,
  address text,
  state text NOT NULL DEFAULT 'intent' CHECK (state IN ('intent', 'provisioning', 'ready', 'bound', 'active', 'releasing', 'doomed', 'gone')),
  -- Grows with each change of owner or state that must fence a late writer.
  epoch integer NOT NULL DEFAULT 0,
  holder text,
  lease_until timestamptz(3),
  claim_id text,
  reason text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  warmed_at timestamptz(3),
  checked_at timestamptz(3),
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((claim_id IS NULL) = (state IN ('intent', 'provisioning', 'ready', 'doomed')) OR state = 'gone')
);
CREATE UNIQUE INDEX slot_pod_name_key ON runtime.slot (pod_name);
CREATE UNIQUE INDEX slot_pod_uid_key ON runtime.slot (pod_uid);
CREATE UNIQUE INDEX slot_claim_id_key ON runtime.slot (claim_id);
CREATE INDEX slot_ready_idx ON runtime.slot (pool_id, warmed_at DESC) WHERE state = 'ready';
CREATE INDEX slot_live_idx ON runtime.slot (pool_id, state) WHERE state <> 'gone';
CREATE INDEX slot_gone_idx ON runtime.slot (changed_at) WHERE state = 'gone';

-- One session's hold on one slot. A session has many in its life and at most one that lives.
CREATE TABLE runtime.claim (
  claim_id text PRIMARY KEY,
  org_id text NOT NULL,
  session_id text NOT NULL,
  request_hash text NOT NULL,
  slot_id text NOT NULL,
  epoch integer NOT NULL,
  state text NOT NULL DEFAULT 'bound' CHECK (state IN ('bound', 'active', 'released', 'lost')),
  deadline timestamptz(3) NOT NULL,
  restart_count integer NOT NULL DEFAULT 0,
  restart_reasons text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3)
);
CREATE UNIQUE INDEX claim_slot_id_key ON runtime.claim (slot_id);
CREATE UNIQUE INDEX claim_org_id_session_id_live_key ON runtime.claim (org_id, session_id) WHERE state IN ('bound', 'active');
CREATE INDEX claim_deadline_idx ON runtime.claim (deadline) WHERE state = 'bound';
CREATE INDEX claim_ended_at_idx ON runtime.claim (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE runtime.session (
  org_id text NOT NULL,
  session_id text NOT NULL,
  -- The same through every life of the session.
  runtime_id text NOT NULL,
  -- The claim that lives, or the last one.
  claim_id text NOT NULL,
  request_hash text NOT NULL,
  status text NOT NULL CHECK (status IN ('starting', 'running', 'paused', 'stopped', 'error')),
  status_detail text,
  -- Sealed with ENCRYPTION_KEY.
  api_key bytea NOT NULL,
  environment bytea NOT NULL,
  -- Name of the workspace that the next life gets; null when there is nothing to keep.
  workspace_ref text,
  url text NOT NULL DEFAULT '',
  working_dir text NOT NULL DEFAULT '',
  lost_count integer NOT NULL DEFAULT 0,
  lost_reasons text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, session_id)
);
CREATE UNIQUE INDEX session_runtime_id_key ON runtime.session (runtime_id);
CREATE INDEX session_workspace_ref_idx ON runtime.session (workspace_ref) WHERE workspace_ref IS NOT NULL;
CREATE INDEX session_stopped_idx ON runtime.session (changed_at) WHERE status = 'stopped' AND workspace_ref IS NOT NULL;
CREATE INDEX session_org_id_created_at_idx ON runtime.session (org_id, created_at DESC);

-- in_use: claims of the organization that live. cap null: the installation's ORG_SANDBOX_LIMIT.
CREATE TABLE runtime.org_usage (
  org_id text PRIMARY KEY,
  in_use integer NOT NULL DEFAULT 0 CHECK (in_use >= 0),
  cap integer CHECK (cap >= 0)
);

-- Only the edges of libs/domain/src/slot-lifecycle.ts, and a slot keeps its first claim for ever.
CREATE FUNCTION runtime.guard_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> OLD.state AND NOT (OLD.state || '>' || NEW.state) = ANY (ARRAY[
    'intent>provisioning', 'intent>doomed', 'provisioning>ready', 'provisioning>doomed', 'ready>bound', 'ready>doomed',
    'bound>active', 'bound>releasing', 'active>releasing', 'releasing>gone', 'doomed>gone'
  ]) THEN
    RAISE EXCEPTION 'slot %: % does not follow %', OLD.slot_id, NEW.state, OLD.state USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.claim_id IS NOT NULL AND NEW.claim_id IS DISTINCT FROM OLD.claim_id THEN
    RAISE EXCEPTION 'slot % belongs to claim %', OLD.slot_id, OLD.claim_id USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.pod_uid IS NOT NULL AND NEW.pod_uid IS DISTINCT FROM OLD.pod_uid THEN
    RAISE EXCEPTION 'slot % is sandbox %', OLD.slot_id, OLD.pod_uid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_slot BEFORE UPDATE OF state, claim_id, pod_uid ON runtime.slot FOR EACH ROW EXECUTE FUNCTION runtime.guard_slot();

DO $$
DECLARE t text;
BEGIN
  FOR t IN SELECT c.table_name FROM information_schema.columns c WHERE c.table_schema = 'runtime' AND c.column_name = 'org_id' LOOP
    EXECUTE format('ALTER TABLE runtime.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE runtime.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON runtime.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON runtime.%I TO slipway_runtime_system USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA runtime TO slipway_runtime, slipway_runtime_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA runtime TO slipway_runtime, slipway_runtime_system;

-- Writes intents until the pool's unclaimed population reaches its target. Under the pool's row lock, counted from rows: two leaders at once cannot make too many.
-- A doomed slot counts until it is gone. p_ids: fresh ids, of which as many are used as are needed. Returns the new slots.
CREATE FUNCTION runtime.plan_slots(p_pool text, p_ids text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE p record; v_population integer;
BEGIN
  SELECT * INTO p FROM runtime.pool WHERE pool_id = p_pool FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT count(*) INTO v_population FROM runtime.slot WHERE pool_id = p_pool AND state IN ('intent', 'provisioning', 'ready', 'doomed');
  RETURN QUERY INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name)
    SELECT id, p_pool, p.template, 'sb-' || id FROM unnest(p_ids) WITH ORDINALITY u(id, n) WHERE n <= p.target - v_population
    RETURNING slot_id;
END $$;

-- Ends a claim: its slot goes to releasing, the organization gets its place back. Does nothing to a claim that has ended.
-- p_only_bound: end it only if it has not become active (its deadline passed, or its activation failed).
-- p_status: what the session becomes, if this is still its claim. A workspace that no client has seen is not kept.
CREATE FUNCTION runtime.release_claim(p_org text, p_claim text, p_only_bound boolean, p_end text, p_status text, p_detail text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE c record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM runtime.org_usage WHERE org_id = p_org FOR UPDATE;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND claim_id = p_claim FOR UPDATE;
  SELECT t.state, t.slot_id, t.session_id INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.state NOT IN ('bound', 'active') OR (p_only_bound AND c.state <> 'bound') THEN RETURN false; END IF;
  UPDATE runtime.claim SET state = p_end, ended_at = now() WHERE claim_id = p_claim;
  UPDATE runtime.slot SET state = 'releasing', epoch = epoch + 1, reason = p_detail, changed_at = now() WHERE slot_id = c.slot_id;
  UPDATE runtime.org_usage SET in_use = in_use - 1 WHERE org_id = p_org;
  UPDATE runtime.session s SET status = p_status, status_detail = p_detail, changed_at = now(),
      workspace_ref = CASE WHEN c.state = 'bound' AND s.workspace_ref = 'sb-' || c.slot_id THEN NULL ELSE s.workspace_ref END,
      lost_count = s.lost_count + CASE WHEN p_end = 'lost' AND c.state = 'active' THEN 1 ELSE 0 END,
      lost_reasons = CASE WHEN p_end = 'lost' AND c.state = 'active' THEN (s.lost_reasons || p_detail)[greatest(1, cardinality(s.lost_reasons) - 8):] ELSE s.lost_reasons END
    WHERE s.org_id = p_org AND s.claim_id = p_claim;
  RETURN true;
END $$;

-- Gives a session a ready slot: quota, idempotency, choice and binding in one round trip and one commit.
--
-- p_hash null: /resume, which has no body; the session's own is used, and an unknown or stopped session is `missing`.
-- p_abandon: a claim of this session whose activation failed; it is ended first, in the same commit, so that its place cannot be taken meanwhile.
-- outcome: bound (new) | replay (the session's live claim) | mismatch (it was made from another body) | quota | empty (no slot is ready) | missing.
-- Only `bound` has written anything but the end of p_abandon.
CREATE FUNCTION runtime.claim_slot(
  p_org text, p_session text, p_pool text, p_claim text, p_runtime text, p_hash text, p_api_key bytea, p_environment bytea,
  p_deadline_ms integer, p_default_cap integer, p_abandon text
) RETURNS TABLE (outcome text, claim_id text, claim_state text, slot_id text, epoch integer, pod_name text, pod_uid text, address text, runtime_id text, api_key bytea, environment bytea, workspace_ref text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE u record; s runtime.session; c runtime.claim; v runtime.slot; v_known boolean;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO u FROM runtime.org_usage t WHERE t.org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO runtime.org_usage (org_id) VALUES (p_org) ON CONFLICT (org_id) DO NOTHING;
    SELECT t.in_use, coalesce(t.cap, p_default_cap) AS cap INTO u FROM runtime.org_usage t WHERE t.org_id = p_org FOR UPDATE;
  END IF;
  SELECT t.* INTO s FROM runtime.session t WHERE t.org_id = p_org AND t.session_id = p_session FOR UPDATE;
  v_known := FOUND;
  IF v_known AND s.claim_id = p_abandon AND runtime.release_claim(p_org, p_abandon, true, 'lost', 'starting', 'the sandbox could not be activated') THEN
    u.in_use := u.in_use - 1;
    SELECT t.* INTO s FROM runtime.session t WHERE t.org_id = p_org AND t.session_id = p_session;
  END IF;
  IF p_hash IS NULL AND (NOT v_known OR s.status = 'stopped') THEN
    RETURN QUERY SELECT 'missing', NULL, NULL, NULL, NULL::integer, NULL, NULL, NULL, NULL, NULL::bytea, NULL::bytea, NULL;
    RETURN;
  END IF;
  IF v_known THEN
    SELECT t.* INTO c FROM runtime.claim t WHERE t.claim_id = s.claim_id AND t.state IN ('bound', 'active') FOR UPDATE;
    IF FOUND THEN
      RETURN QUERY SELECT CASE WHEN p_hash IS NULL OR c.request_hash = p_hash THEN 'replay' ELSE 'mismatch' END,
        c.claim_id, c.state, t.slot_id, c.epoch, t.pod_name, t.pod_uid, t.address, s.runtime_id, s.api_key, s.environment, s.workspace_ref
        FROM runtime.slot t WHERE t.slot_id = c.slot_id;
      RETURN;
    END IF;
  END IF;
  IF u.in_use >= u.cap THEN
    RETURN QUERY SELECT 'quota', NULL, NULL, NULL, u.cap, NULL, NULL, NULL, NULL, NULL::bytea, NULL::bytea, NULL;
    RETURN;
  END IF;
  SELECT t.* INTO v FROM runtime.slot t WHERE t.pool_id = p_pool AND t.state = 'ready' ORDER BY t.warmed_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'empty', NULL, NULL, NULL, NULL::integer, NULL, NULL, NULL, NULL, NULL::bytea, NULL::bytea, NULL;
    RETURN;
  END IF;
  UPDATE runtime.slot SET state = 'bound', epoch = epoch + 1, claim_id = p_claim, changed_at = now()
    WHERE slot_id = v.slot_id AND state = 'ready' AND epoch = v.epoch RETURNING epoch INTO STRICT v.epoch;
  INSERT INTO runtime.claim (claim_id, org_id, session_id, request_hash, slot_id, epoch, deadline)
    VALUES (p_claim, p_org, p_session, coalesce(p_hash, s.request_hash), v.slot_id, v.epoch, now() + p_deadline_ms * interval '1 millisecond');
  UPDATE runtime.org_usage SET in_use = in_use + 1 WHERE org_id = p_org;
  IF v_known THEN
    UPDATE runtime.session t SET claim_id = p_claim, request_hash = coalesce(p_hash, t.request_hash), environment = coalesce(p_environment, t.environment),
        workspace_ref = coalesce(t.workspace_ref, v.pod_name), status = 'starting', status_detail = NULL, changed_at = now()
      WHERE t.org_id = p_org AND t.session_id = p_session RETURNING t.* INTO s;
  ELSE
    INSERT INTO runtime.session AS t (org_id, session_id, runtime_id, claim_id, request_hash, status, api_key, environment, workspace_ref)
      VALUES (p_org, p_session, p_runtime, p_claim, p_hash, 'starting', p_api_key, p_environment, v.pod_name) RETURNING t.* INTO s;
  END IF;
  RETURN QUERY SELECT 'bound', p_claim, 'bound', v.slot_id, v.epoch, v.pod_name, v.pod_uid, v.address, s.runtime_id, s.api_key, s.environment, s.workspace_ref;
END $$;

-- Marks a claim active after its sandbox has accepted it. False when the claim has ended meanwhile: the sandbox is then somebody's to destroy, not to use.
-- Not waited for to reach the disk: the sandbox itself holds the receipt, and the reaper reads it when this is lost.
CREATE FUNCTION runtime.activate_claim(p_org text, p_claim text, p_epoch integer, p_address text, p_working_dir text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE c record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SET LOCAL synchronous_commit = off;
  PERFORM 1 FROM runtime.session WHERE org_id = p_org AND claim_id = p_claim FOR UPDATE;
  SELECT t.state, t.slot_id, t.epoch INTO c FROM runtime.claim t WHERE t.claim_id = p_claim AND t.org_id = p_org FOR UPDATE;
  IF NOT FOUND OR c.epoch <> p_epoch OR c.state NOT IN ('bound', 'active') THEN RETURN false; END IF;
  IF c.state = 'active' THEN RETURN true; END IF;
  UPDATE runtime.claim SET state = 'active' WHERE claim_id = p_claim;
  UPDATE runtime.slot SET state = 'active', address = p_address, changed_at = now() WHERE slot_id = c.slot_id AND state = 'bound' AND epoch = p_epoch;
  UPDATE runtime.session SET status = 'running', status_detail = NULL, url = p_address, working_dir = p_working_dir, changed_at = now()
    WHERE org_id = p_org AND claim_id = p_claim;
  RETURN true;
END $$;
