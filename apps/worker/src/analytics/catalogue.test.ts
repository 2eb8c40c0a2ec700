import { describe, expect, it } from '@jest/globals';
import { wireEvent } from '@slipway/analytics';
import { ANALYTICS_EVENT_NAMES, ANALYTICS_EVENTS, modelName } from '@slipway/contracts/operate';
import { z } from 'zod';

/**
 * Every name that may leave, by event. A change here is a change of what is reported about users, and of
 * `docs/operate/analytics.md`.
 */
const NAMES = {
  user_signed_up: ['idp'],
  org_created: ['kind'],
  git_provider_connected: ['provider'],
  conversation_started: ['trigger', 'has_repository', 'model', 'environment'],
  first_event_seen: ['seconds'],
  first_tool_succeeded: ['seconds'],
  agent_task_completed: [
    'result',
    'turns',
    'steps',
    'tool_calls',
    'minutes',
    'cost_usd',
    'tokens',
    'model',
    'interrupted',
    'approvals',
  ],
  changes_pushed: ['files', 'lines'],
  pull_request_opened: ['provider'],
  pull_request_merged: ['provider', 'hours_open', 'cost_usd'],
  user_activated: ['days_since_sign_up'],
  conversation_failed: ['code', 'step'],
  approval_answered: ['yes', 'seconds'],
  member_invited: [],
  member_joined: [],
  api_key_created: [],
  cli_paired: [],
  integration_installed: ['provider'],
  download_trajectory_button_clicked: [],
  example_task_chosen: ['position'],
  experiment_exposed: ['flag', 'variant'],
  model_called: [
    'model',
    'input_tokens',
    'output_tokens',
    'cached_tokens',
    'cost_usd',
    'seconds',
    'first_byte_seconds',
    'failed',
  ],
};

describe('the catalogue of analytics events', () => {
  it('has these events with these properties and no others', () => {
    expect(
      Object.fromEntries(Object.entries(ANALYTICS_EVENTS).map(([name, schema]) => [name, Object.keys(schema.shape)])),
    ).toEqual(NAMES);
  });

  it('takes numbers, booleans, enums and names of models: any other property is refused', () => {
    for (const name of ANALYTICS_EVENT_NAMES) {
      const schema: z.ZodObject = ANALYTICS_EVENTS[name];
      for (const [key, property] of Object.entries(schema.shape)) {
        expect([
          name,
          key,
          property instanceof z.ZodNumber ||
            property instanceof z.ZodBoolean ||
            property instanceof z.ZodEnum ||
            key === 'model',
        ]).toEqual([name, key, true]);
        expect([name, key, schema.shape[key]?.safeParse('a sentence of a user').success]).toEqual([name, key, false]);
      }
      expect(schema.safeParse({ email: 'a@b.example' }).success).toBe(false);
    }
  });

  it('names no organization’s own model, and nothing that is no name of a model', () => {
    expect(
      ['gpt-5.2', 'vertex_ai/gemini-3', 'profile/acme-secret', 'ada@acme.example', 'a sentence', ''].map(modelName),
    ).toEqual(['gpt-5.2', 'vertex_ai/gemini-3', 'profile', 'other', 'other', 'other']);
  });

  it('adds PostHog’s own names to two events and one property to all', () => {
    const sent = (name: string, properties: Record<string, string>) =>
      wireEvent('s'.repeat(32), { id: 'i', orgId: 'o', userId: 'u', name, at: new Date(0), properties });
    expect(sent('experiment_exposed', { flag: 'example-tasks', variant: 'cards' })).toMatchObject({
      event: '$feature_flag_called',
      properties: {
        $feature_flag: 'example-tasks',
        $feature_flag_response: 'cards',
        '$feature/example-tasks': 'cards',
        $process_person_profile: false,
      },
    });
    expect(Object.keys(sent('model_called', {}).properties)).toEqual([
      '$ai_trace_id',
      '$ai_model',
      '$ai_input_tokens',
      '$ai_output_tokens',
      '$ai_cache_read_input_tokens',
      '$ai_total_cost_usd',
      '$ai_latency',
      '$ai_time_to_first_token',
      '$ai_is_error',
      '$process_person_profile',
    ]);
    expect(sent('member_joined', {}).properties).toEqual({ $process_person_profile: false });
  });
});
