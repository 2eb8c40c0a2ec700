-- llm-gateway's tables: who may call, and what each call used.
-- Roles slipway_gateway (the service) and slipway_gateway_system (work across organizations, entered by SET LOCAL ROLE) exist before this runs: libs/db/src/migrate.

CREATE TABLE gateway.virtual_key (
  -- The part of the key that is not secret, with its prefix: key_….
  id text PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  user_id text,
  alias text,
  -- Empty means every model.
  models text[] NOT NULL DEFAULT '{}',
  -- SHA-256 of the whole key.
  hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3)
);
-- A conversation has one key that works.
CREATE UNIQUE INDEX virtual_key_conversation_id_live_key ON gateway.virtual_key (conversation_id) WHERE revoked_at IS NULL;
CREATE INDEX virtual_key_org_id_created_at_idx ON gateway.virtual_key (org_id, created_at DESC);

-- One row a call that reached a model, written once and never changed.
CREATE TABLE gateway.ledger (
  -- Made by the gateway before the row is sent, so that sending it again stores it once.
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  key_id text NOT NULL,
  user_id text,
  request_id text NOT NULL,
  trace_id text NOT NULL,
  model text NOT NULL,
  -- The part of prompt_tokens that the provider read from its cache is cached_tokens.
  prompt_tokens integer NOT NULL,
  completion_tokens integer NOT NULL,
  cached_tokens integer NOT NULL,
  -- reported: the provider's own count. estimated: the gateway's, of what had passed when the call broke off or ended without a count. none: the provider refused the call.
  usage_source text NOT NULL CHECK (usage_source IN ('reported', 'estimated', 'none')),
  cost_usd numeric(20,10) NOT NULL,
  -- false: the catalogue has no price for the model, and cost_usd is 0.
  cost_known boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('ok', 'aborted', 'failed')),
  -- Code of the failure; see libs/contracts error codes.
  error_code text,
  streamed boolean NOT NULL,
  started_at timestamptz(3) NOT NULL,
  first_byte_ms double precision,
  latency_ms double precision NOT NULL,
  stored_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ledger_org_id_started_at_idx ON gateway.ledger (org_id, started_at DESC);
CREATE INDEX ledger_conversation_id_idx ON gateway.ledger (conversation_id);

-- Row-level security: one organization a transaction, named by app.org; the system role sees all and is entered on purpose.
DO $$
DECLARE t text;
BEGIN
  FOR t IN SELECT c.table_name FROM information_schema.columns c WHERE c.table_schema = 'gateway' AND c.column_name = 'org_id' LOOP
    EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE gateway.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON gateway.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON gateway.%I TO slipway_gateway_system USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;
-- Whose a key is comes to light only by the lookup itself: one row, by its id, named by gateway.key_id.
CREATE POLICY lookup ON gateway.virtual_key FOR SELECT USING (id = current_setting('gateway.key_id', true));

GRANT USAGE ON SCHEMA gateway TO slipway_gateway, slipway_gateway_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA gateway TO slipway_gateway, slipway_gateway_system;
-- The ledger is written and read, never changed.
REVOKE UPDATE, DELETE ON gateway.ledger FROM slipway_gateway, slipway_gateway_system;
REVOKE ALL ON gateway._prisma_migrations FROM slipway_gateway, slipway_gateway_system;

-- A key by its id in one round trip, whatever its state.
CREATE FUNCTION gateway.find_key(p_id text)
RETURNS TABLE (org_id text, conversation_id uuid, user_id text, models text[], hash bytea, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('gateway.key_id', p_id, true);
  RETURN QUERY SELECT k.org_id, k.conversation_id, k.user_id, k.models, k.hash, k.expires_at::timestamptz, k.revoked_at::timestamptz FROM gateway.virtual_key k WHERE k.id = p_id;
END $$;

-- Stores a new key of a conversation and ends those before it, in one commit. Two at once for one conversation go one after the other: the later one works.
-- Answers the ids that it ended.
CREATE FUNCTION gateway.issue_key(
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
