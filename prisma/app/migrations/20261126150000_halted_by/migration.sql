-- slipway: expand-only
-- Label of who stopped or paused the conversation last, as the list shows it; NULL when it was not a user, and as soon as
-- it is to go on.
ALTER TABLE app.conversation ADD COLUMN halted_by text;
