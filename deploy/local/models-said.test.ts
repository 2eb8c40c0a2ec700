import { describe, expect, it } from '@jest/globals';
import { modelsSaid } from './models-said.ts';

const file =
  (...names: string[]) =>
  (): string =>
    JSON.stringify({ models: names.map((name) => ({ name })) });

describe('the model line of npm start', () => {
  it('names the demo where nothing is set up', () => {
    expect(modelsSaid({ LLM_BASE_URL: '' })).toMatch(/^the scripted demo model/);
  });

  it('names the models of LLM_MODELS_FILE, not the demo', () => {
    expect(modelsSaid({ LLM_MODELS_FILE: 'm.json' }, file('gpt-4o', 'claude'))).toBe('gpt-4o, claude');
    expect(modelsSaid({ LLM_MODELS_FILE: 'm.json' }, file('a', 'b', 'c', 'd', 'e', 'f', 'g'))).toBe(
      'a, b, c, d, e and 2 more',
    );
  });

  it('names the model of the variables first, once', () => {
    const env = { LLM_BASE_URL: 'http://127.0.0.1:1/v1', LLM_MODEL: 'mine', LLM_MODELS_FILE: 'm.json' };
    expect(modelsSaid(env, file('mine', 'other'))).toBe('mine at http://127.0.0.1:1/v1, other');
    expect(modelsSaid({ LLM_API_KEY: 'k', LLM_MODEL: 'gpt-4o' })).toBe('gpt-4o at OpenAI');
  });

  it('names the file where it cannot be read', () => {
    expect(modelsSaid({ LLM_MODELS_FILE: 'm.json' }, () => 'no JSON')).toBe('those of m.json');
  });
});
