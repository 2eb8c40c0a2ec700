import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { messagesOf } from './prompt.js';

const PICTURE = 'data:image/png;base64,AAAA';
const id = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;
const base = { timestamp: '2026-01-01T00:00:00.000Z', tool_name: 'execute_ipython_cell', tool_call_id: 'call' };

describe('the prompt', () => {
  it('has the pictures of an answer with its result, and none that was moved out of its event or is no picture', () => {
    const events = [
      {
        ...base,
        id: id(1),
        source: 'agent',
        kind: 'ActionEvent',
        thought: [],
        action: { kind: 'IPythonRunCellAction', code: 'plot()' },
        tool_call: { id: 'call', name: 'execute_ipython_cell', arguments: '{}' },
        llm_response_id: 'r',
        security_risk: 'LOW',
      },
      {
        ...base,
        id: id(2),
        source: 'environment',
        kind: 'ObservationEvent',
        action_id: id(1),
        observation: {
          kind: 'IPythonRunCellObservation',
          is_error: false,
          content: [
            { type: 'text', text: '[picture 1]' },
            {
              type: 'image',
              image_urls: [
                PICTURE,
                'https://elsewhere.example/x.png',
                `${PICTURE}\n[blob sha256:${'a'.repeat(64)} 7 bytes]`,
              ],
            },
          ],
        },
      },
    ] as ConversationEvent[];
    expect(messagesOf(events).at(-1)).toEqual({
      role: 'tool',
      toolCallId: 'call',
      content: '[picture 1]',
      images: [PICTURE],
    });
  });
});
