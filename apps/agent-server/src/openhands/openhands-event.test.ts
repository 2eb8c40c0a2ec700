import { describe, expect, it } from '@jest/globals';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { settingsOf } from './agent-settings.js';
import { openhandsEvent } from './openhands-event.js';
import { toolsOf } from './openhands-tools.js';

const base = {
  id: '00000000-0000-4000-8000-000000000001',
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'agent',
} as const;
const call = { tool_name: 'x', tool_call_id: 'c' };

describe("what OpenHands' clients are shown", () => {
  it('is an event without what their classes refuse', () => {
    const error: ConversationEvent = {
      ...base,
      kind: 'ConversationErrorEvent',
      code: 'model.timeout',
      detail: 'slow',
      runtime_status: 'STATUS$ERROR',
    };
    expect(openhandsEvent(error)).toEqual({
      ...base,
      kind: 'ConversationErrorEvent',
      code: 'model.timeout',
      detail: 'slow',
    });
    const policy: ConversationEvent = {
      ...base,
      kind: 'ConversationStateUpdateEvent',
      key: 'confirmation_settings',
      value: { policy: { kind: 'AlwaysConfirm' } },
    };
    expect(openhandsEvent(policy)).toMatchObject({ key: 'confirmation_policy', value: { kind: 'AlwaysConfirm' } });
  });

  it('is an action that they have no class for as one of an MCP server, with its fields', () => {
    const acting = (action: { kind: string; [field: string]: unknown }): ConversationEvent => ({
      ...base,
      ...call,
      kind: 'ActionEvent',
      thought: [],
      tool_call: { id: 'c', name: 'x', arguments: '{}' },
      llm_response_id: 'r',
      security_risk: 'LOW',
      action,
    });
    expect(openhandsEvent(acting({ kind: 'PaintAction', colour: 'red' }))).toMatchObject({
      action: { kind: 'MCPToolAction', data: { kind: 'PaintAction', colour: 'red' } },
    });
    expect(openhandsEvent(acting({ kind: 'TerminalAction', command: 'ls', session: 'of ours' }))).toMatchObject({
      action: expect.not.objectContaining({ session: expect.anything() }),
      tool_call: { origin: 'completion' },
    });
    const observation = {
      kind: 'PaintObservation',
      content: [{ type: 'text' as const, text: 'done' }],
      is_error: false,
      shade: 'dark',
    };
    expect(
      openhandsEvent({ ...base, ...call, kind: 'ObservationEvent', action_id: base.id, observation }),
    ).toMatchObject({
      observation: { kind: 'MCPToolObservation', tool_name: 'x', content: observation.content, is_error: false },
    });
  });

  it('is the picture of a page as their field for it, and nothing of ours beside', () => {
    const text = { type: 'text' as const, text: 'The page is there.' };
    const picture = { type: 'image' as const, image_urls: ['data:image/jpeg;base64,/9j/4AAQ'] };
    const observation = {
      kind: 'BrowserObservation',
      content: [text, picture],
      is_error: false,
      screenshot_data: null,
      full_output_save_dir: null,
    };
    const event: ConversationEvent = {
      ...base,
      ...call,
      kind: 'ObservationEvent',
      action_id: base.id,
      observation: { ...observation, page: { url: 'http://a.test/' } },
    };
    expect(openhandsEvent(event)).toEqual({
      ...event,
      observation: { ...observation, content: [text], screenshot_data: '/9j/4AAQ' },
    });
  });

  it('is the object of the log itself where there is nothing of ours in it', () => {
    const pause: ConversationEvent = { ...base, kind: 'PauseEvent' };
    expect(openhandsEvent(pause)).toBe(pause);
  });
});

describe('a start', () => {
  const request = {
    agent: {
      llm: { model: 'm', api_key: 'sk-secret', aws_access_key_id: 'AKIA-secret', max_output_tokens: 10 },
      mcp_config: {
        mcpServers: { a: { command: 'x', env: { TOKEN: 'env-secret' }, headers: { Authorization: 'header-secret' } } },
      },
      tools: [{ name: 'execute_bash' }, { name: 'from the future' }],
      include_default_tools: ['FinishTool'],
    },
    workspace: { working_dir: '/w' },
    client_tools: [{ name: 'mine' }],
  } as unknown as StartConversationRequest;

  it('is returned without its credentials', () => {
    const shown = settingsOf(request);
    expect(JSON.stringify(shown)).not.toMatch(/secret/);
    expect(shown).toMatchObject({
      agent: { kind: 'Agent', llm: { model: 'm', max_output_tokens: 10 } },
      client_tools: [{ name: 'mine' }],
    });
  });

  it('offers the tools that it names, by any of their names, and no other', () => {
    expect(toolsOf(request.agent).map(({ definition }) => definition.name)).toEqual(['terminal', 'finish']);
    const { tools: _, ...silent } = request.agent as Record<string, unknown>;
    expect(toolsOf(silent as typeof request.agent).length).toBeGreaterThan(4);
  });
});
