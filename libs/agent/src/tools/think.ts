import { ThinkAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

export const THINK: Tool = {
  definition: define(
    'think',
    'Writes a thought down before a hard decision. Nothing is run and nothing changes.',
    { thought: { type: 'string' } },
    ['thought'],
  ),
  kind: 'ThinkAction',
  schema: ThinkAction.strip(),
  readOnly: true,
  observe: () => ({
    kind: 'ThinkObservation',
    content: [{ type: 'text', text: 'Your thought has been written down.' }],
    is_error: false,
  }),
};
