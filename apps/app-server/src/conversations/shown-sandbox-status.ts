/**
 * The sandbox's status as clients read it, of `app.conversation`. One that is to be resumed is `STARTING` until worker
 * has seen its agent-server answer, which deletes the job: a sandbox that was to be paused may still be there at first,
 * and is given back before the next one starts.
 */
export const SHOWN_SANDBOX_STATUS = `CASE WHEN sandbox_status = 'RUNNING' AND start_status = 'READY'
    AND EXISTS (SELECT 1 FROM app.outbox o WHERE o.queue = 'conversation-start' AND o.key = conversation.id::text)
  THEN 'STARTING' ELSE sandbox_status END AS sandbox_status`;
