-- Counts a change of a conversation's agent settings in settings_version, whoever makes it.
-- A new setting is a column in this comparison and in the trigger's list.
CREATE OR REPLACE FUNCTION app.count_settings_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.model, NEW.agent_type, NEW.max_iterations, NEW.max_budget_usd, NEW.confirmation_mode)
    IS DISTINCT FROM (OLD.model, OLD.agent_type, OLD.max_iterations, OLD.max_budget_usd, OLD.confirmation_mode) THEN
    NEW.settings_version := OLD.settings_version + 1;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER conversation_count_settings BEFORE UPDATE OF model, agent_type, max_iterations, max_budget_usd, confirmation_mode ON app.conversation
  FOR EACH ROW EXECUTE FUNCTION app.count_settings_change();
