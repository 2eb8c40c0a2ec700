import { ExecuteActionRequest } from '@slipway/contracts/actions';
import { z } from 'zod';
import { jsonBody } from '../http/body.js';
import { queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import type { CallOutputs } from '../terminal/call-output.js';
import { type ActionHandlers, executeAction, executionsOf, missingOf } from './actions.js';

const OutputQuery = z.object({
  call: z.string().min(1).max(100),
  after: z.coerce.number().int().min(0).default(0),
  now: z.stringbool().default(false),
});

export function actionRoutes(handlers: ActionHandlers, outputs: CallOutputs): Routes {
  const executions = executionsOf(handlers);
  return {
    'GET /unavailable-tools': async () => ({ unavailable: missingOf(executions) }),
    'POST /execute_action': async ({ request, signal }) => {
      const { action, call, actionId } = await jsonBody(request, ExecuteActionRequest);
      if (call === undefined) return { observation: await executeAction(executions, action, signal, { actionId }) };
      try {
        const output = outputs.open(call);
        return { observation: await executeAction(executions, action, signal, { output, actionId }) };
      } finally {
        outputs.close(call);
      }
    },
    'GET /action/output': async ({ query, signal }) => {
      const { call, after, now } = queryOf(OutputQuery, query);
      return outputs.since(call, after, now, signal);
    },
  };
}
