-- Trigger: notifies at commit that grants have to be checked again. The listener reads from the rows what has changed.
CREATE OR REPLACE FUNCTION app.tell_sandbox_access() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_sandbox_access', '');
  RETURN NULL;
END $$;
