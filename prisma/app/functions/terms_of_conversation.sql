-- Run settings as one text, to compare what an agent has acknowledged (checkpoint ->> 'terms') with what is in force.
CREATE OR REPLACE FUNCTION app.terms_of_conversation(p_agent_type text, p_max_iterations integer, p_max_budget_usd numeric) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT concat_ws('|', p_agent_type, coalesce(p_max_iterations::text, ''), coalesce(trim_scale(p_max_budget_usd)::text, ''));
$$;
