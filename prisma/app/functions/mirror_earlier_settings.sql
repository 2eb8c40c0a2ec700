-- For replicas of the release before, which count in terms_version and confirmation_version and read three keys of the checkpoint.
-- Trigger, function and both columns go in 0.2.0.
CREATE OR REPLACE FUNCTION app.mirror_earlier_settings() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  org_version integer;
BEGIN
  IF (NEW.agent_type, NEW.max_iterations, NEW.max_budget_usd) IS DISTINCT FROM (OLD.agent_type, OLD.max_iterations, OLD.max_budget_usd)
    AND NEW.terms_version = OLD.terms_version THEN
    NEW.terms_version := OLD.terms_version + 1;
  END IF;
  IF NEW.confirmation_mode IS DISTINCT FROM OLD.confirmation_mode AND NEW.confirmation_version = OLD.confirmation_version THEN
    NEW.confirmation_version := OLD.confirmation_version + 1;
  END IF;
  IF NEW.checkpoint ? 'settingsVersion' AND NEW.checkpoint -> 'settingsVersion' IS DISTINCT FROM OLD.checkpoint -> 'settingsVersion' THEN
    SELECT coalesce(max(o.settings_version), 0) INTO org_version FROM app.org o WHERE o.id = NEW.org_id;
    IF (NEW.checkpoint ->> 'settingsVersion')::integer = NEW.settings_version + org_version THEN
      NEW.checkpoint := NEW.checkpoint || jsonb_build_object(
        'terms', app.terms_of_conversation(NEW.agent_type, NEW.max_iterations, NEW.max_budget_usd),
        'termsVersion', NEW.terms_version,
        'brakeVersion', NEW.confirmation_version + org_version);
    ELSIF NOT NEW.checkpoint ? 'terms' THEN
      -- The agent has older settings than the row: an older worker sends its own.
      NEW.checkpoint := NEW.checkpoint || '{"terms": "", "termsVersion": -1, "brakeVersion": -1}';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER conversation_mirror_earlier_settings BEFORE UPDATE OF agent_type, max_iterations, max_budget_usd, confirmation_mode, checkpoint ON app.conversation
  FOR EACH ROW EXECUTE FUNCTION app.mirror_earlier_settings();
