-- slipway: expand-only
-- How far the agent of a conversation goes by itself: whether it plans or works, its steps for one message, and what it may cost before it pauses. NULL: no limit of its own.
ALTER TABLE app.conversation
  ADD COLUMN agent_type text NOT NULL DEFAULT 'default',
  ADD COLUMN max_iterations integer,
  ADD COLUMN max_budget_usd numeric(12, 4);

-- The same as one text: what an agent was told (checkpoint ->> 'terms') is compared with what holds.
CREATE FUNCTION app.terms_of_conversation(p_agent_type text, p_max_iterations integer, p_max_budget_usd numeric) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT concat_ws('|', p_agent_type, coalesce(p_max_iterations::text, ''), coalesce(trim_scale(p_max_budget_usd)::text, ''));
$$;
