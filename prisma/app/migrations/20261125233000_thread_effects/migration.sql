-- slipway: expand-only
-- What a thread shows beside its comment (link), and what becomes of its ticket (move), are rows of thread_answer, too.

-- Of link and move, instead of conversation_id: a worker of the release before takes every row that has one for a comment.
ALTER TABLE app.thread_answer ADD COLUMN effect_of uuid REFERENCES app.conversation (id) ON DELETE CASCADE;
-- How often the provider has acknowledged it. Names what is said where each state is one more message.
ALTER TABLE app.thread_answer ADD COLUMN revision integer NOT NULL DEFAULT 0;
CREATE INDEX thread_answer_effect_of_idx ON app.thread_answer (effect_of);
