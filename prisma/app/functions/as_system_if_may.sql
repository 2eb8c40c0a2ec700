-- Takes the system role for the rest of the transaction where the caller may have it. No-op for slipway_sandbox, whose
-- own policies suffice.
CREATE OR REPLACE FUNCTION app.as_system_if_may() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF pg_has_role('slipway_app_system', 'MEMBER') THEN PERFORM set_config('role', 'slipway_app_system', true); END IF;
END $$;
