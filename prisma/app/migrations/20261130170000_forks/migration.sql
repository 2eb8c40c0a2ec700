-- slipway: expand-only
-- Where a conversation was forked from. That may have been deleted since.
ALTER TABLE app.conversation ADD COLUMN forked_from uuid;
-- Place in both logs up to which they are the same.
ALTER TABLE app.conversation ADD COLUMN forked_seq bigint;
