import { describe, expect, it } from '@jest/globals';
import { logOf, message, update } from './sample-events.ts';
import { appendToTimeline, EMPTY_TIMELINE } from './timeline.ts';

const server = (name: string, state: string, more: object = {}) => ({ name, state, tools: 0, dropped: [], ...more });

describe('what became of the MCP servers', () => {
  it('is a row when one of them is missing, or came after all, and none when there is nothing to tell', () => {
    const missing = [
      server('a', 'ready', { tools: 2 }),
      server('b', 'failed', { reason: 'It did not answer.', nextStep: 'Look at its log.' }),
    ];
    const { rows } = appendToTimeline(
      EMPTY_TIMELINE,
      logOf([
        update('mcp_servers', { servers: [server('a', 'ready')], told: '' }),
        message('user', 'Go.'),
        update('mcp_servers', { servers: missing, told: 'The MCP server "b" is not available.' }),
        update('mcp_servers', { servers: 'of another shape' }),
        update('mcp_servers', {
          servers: [server('a', 'ready'), server('b', 'ready')],
          told: 'The MCP server "b" is available now.',
        }),
      ]),
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['message', 'servers', 'servers']);
    expect(rows[1]).toMatchObject({ servers: missing });
  });
});
