import { FinishAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

/** Ends the run: see `runToolCalls`. */
export const FINISH: Tool = {
  definition: define(
    'finish',
    'Ends the work and hands it over. Call it when the task is done, or when it cannot be done without the user.',
    { message: { type: 'string', description: 'For the user: what was done, how it was checked, what is left.' } },
    ['message'],
  ),
  kind: 'FinishAction',
  schema: FinishAction.strip(),
  observe: (action) => ({
    kind: 'FinishObservation',
    content: [{ type: 'text', text: (action as FinishAction).message }],
    is_error: false,
  }),
};
