import { describe, expect, it } from '@jest/globals';
import type { AgentAction } from '@slipway/contracts/actions';
import type { ConversationEvent } from '@slipway/contracts/events';
import fc from 'fast-check';
import { activatedBy, broughtByFiles, skillsPrompt } from './activation.js';
import { readFrontMatter } from './front-matter.js';
import { invokeSkillTool } from './invoke-skill.js';
import { type Skill, skillOfFile, skillOfStart } from './skill.js';

const DOCKER = `---
name: docker
description: >
  How images are built
  here.
triggers:
  - docker
  - "/build-image"
---
Use buildx.
`;

describe('a skill file', () => {
  it('is read with its name, its description and what triggers it', () => {
    expect(skillOfFile('.openhands/skills/docker.md', DOCKER)).toEqual({
      name: 'docker',
      description: 'How images are built here.',
      content: 'Use buildx.',
      source: '.openhands/skills/docker.md',
      triggers: ['docker', '/build-image'],
      paths: [],
      shown: 'hidden',
    });
    expect(skillOfFile('.openhands/skills/style.md', 'Two spaces.')).toMatchObject({
      name: 'style',
      shown: 'always',
      triggers: [],
    });
    expect(
      skillOfFile('.agents/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: \'Reads "PDF"\'\n---\nRun pdftotext.'),
    ).toMatchObject({
      name: 'pdf',
      description: 'Reads "PDF"',
      shown: 'listed',
    });
    expect(
      skillOfFile(
        '.agents/skills/x/SKILL.md',
        '---\ndisable-model-invocation: true\ntriggers: [a, "b, c", \'d\'] \n---\nx',
      ),
    ).toMatchObject({
      shown: 'hidden',
      triggers: ['a', 'b, c', 'd'],
    });
    expect(skillOfFile('.openhands/skills/empty.md', '---\nname: x\n---\n\n')).toBeNull();
  });

  it('is never more than text when it is broken', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(
          fc.constantFrom('---', 'name:', '- ', '[', ']', '"', "'", '|', '>', '\n', '__proto__: x', 'triggers:', ' '),
          { maxLength: 30 },
        ),
        (text, parts) => {
          for (const file of [text, parts.join(''), `---\n${parts.join('')}\n---\n${text}`]) {
            const { fields, text: rest } = readFrontMatter(file);
            expect(file.endsWith(rest)).toBe(true);
            for (const value of Object.values(fields))
              expect(typeof value === 'string' || Array.isArray(value)).toBe(true);
            skillOfFile('a/b.md', file);
          }
        },
      ),
    );
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('a trigger', () => {
  const docker = skillOfFile('.openhands/skills/docker.md', DOCKER) as Skill;
  const message = (activated: string[], id = 'm1'): ConversationEvent =>
    ({
      id,
      kind: 'MessageEvent',
      source: 'user',
      timestamp: '',
      llm_message: { role: 'user', content: [] },
      activated_skills: activated,
    }) as unknown as ConversationEvent;

  it('brings its skill once into a message that says it as a word, and again when that was forgotten', () => {
    expect(activatedBy('Write a Dockerfile.', [docker], [])).toEqual({});
    const brought = activatedBy('Why does DOCKER fail?', [docker], []);
    expect(brought.activated_skills).toEqual(['docker']);
    expect(brought.extended_content?.[0]?.text).toContain('Use buildx.');
    expect(activatedBy('please /build-image now', [docker], []).activated_skills).toEqual(['docker']);
    expect(activatedBy('docker again', [docker], [message(['docker'])])).toEqual({});
    const forgotten = {
      id: 'c',
      kind: 'Condensation',
      source: 'environment',
      timestamp: '',
      forgotten_event_ids: ['m1'],
      llm_response_id: '',
    } as unknown as ConversationEvent;
    expect(activatedBy('docker again', [docker], [message(['docker']), forgotten]).activated_skills).toEqual([
      'docker',
    ]);
  });

  it('is taken literally, and many at once are bounded', () => {
    const odd = skillOfStart({
      name: 'odd',
      content: 'x',
      trigger: { type: 'keyword', keywords: ['c++', '.*', '('] },
      is_agentskills_format: false,
      disable_model_invocation: false,
    });
    expect(activatedBy('plain words', [odd], [])).toEqual({});
    expect(activatedBy('in c++ please', [odd], []).activated_skills).toEqual(['odd']);
    const many = Array.from({ length: 20 }, (_, index) => ({ ...docker, name: `d${index}` }));
    expect(activatedBy('docker', many, []).activated_skills).toHaveLength(5);
  });
});

describe('the system prompt', () => {
  it('holds what always counts, names what can be read, and says nothing twice', () => {
    const style = skillOfFile('.openhands/skills/style.md', 'Two spaces.') as Skill;
    const pdf = skillOfFile('.agents/skills/pdf/SKILL.md', '---\ndescription: Reads PDF\n---\nRun pdftotext.') as Skill;
    const prompt = skillsPrompt([style, pdf, skillOfFile('.openhands/skills/docker.md', DOCKER) as Skill]) ?? '';
    expect(prompt).toContain('Two spaces.');
    expect(prompt).toContain('- pdf: Reads PDF (.agents/skills/pdf/SKILL.md)');
    expect(prompt).not.toContain('pdftotext');
    expect(prompt).not.toContain('buildx');
    expect(skillsPrompt([style], 'The style:\nTwo spaces.')).toBeUndefined();
    const tool = invokeSkillTool([style, pdf]);
    const read = (name: string) => tool.observe?.({ kind: 'InvokeSkillAction', name } as never, undefined as never);
    expect(JSON.stringify(read('pdf'))).toContain('Run pdftotext.');
    expect(read('style')).toMatchObject({ is_error: true });
  });
});

describe('a skill of files', () => {
  const rules = [
    skillOfFile('.openhands/skills/sql.md', '---\npaths: ["db/**/*.{sql,psql}", "!x"]\n---\nNever drop a column.'),
    skillOfStart({
      name: 'docs',
      content: 'Short sentences.',
      is_agentskills_format: false,
      disable_model_invocation: false,
      trigger: { type: 'path', paths: ['*.md'] },
    }),
  ].filter((skill) => skill !== null);
  const brought = (action: object, events: readonly ConversationEvent[] = []) =>
    broughtByFiles(action as AgentAction, '/w/project/', rules, events);

  it('comes with the answer when the agent reads or changes a file that it names, and not with others', () => {
    expect(rules.map(({ shown }) => shown)).toEqual(['hidden', 'hidden']);
    expect(brought({ kind: 'FileEditorAction', command: 'view', path: '/w/project/db/new/one.sql' })).toMatchObject({
      activated_skills: ['sql'],
      extended_content: [{ text: expect.stringContaining('Never drop a column.') }],
    });
    const patch =
      '*** Begin Patch\n*** Update File: db/a.psql\n@@\n-a\n+b\n*** Add File: guide/deep/b.md\n+c\n*** End Patch';
    expect(brought({ kind: 'ApplyPatchAction', patch }).activated_skills).toEqual(['sql', 'docs']);
    for (const path of ['/w/project/src/a.sql', '/etc/db/a.sql', '/w/projects/db/a.sql', '/w/project/db/a.sqlx'])
      expect(brought({ kind: 'FileEditorAction', command: 'view', path })).toEqual({});
    expect(brought({ kind: 'TerminalAction', command: 'cat db/a.sql' })).toEqual({});
  });

  it('comes once, as long as the model sees it', () => {
    const action = { kind: 'FileEditorAction', command: 'create', path: '/w/project/README.md' };
    const first = brought(action);
    const event = { id: 'e1', kind: 'ObservationEvent', ...first } as unknown as ConversationEvent;
    expect(brought(action, [event])).toEqual({});
    const forgotten = { id: 'e2', kind: 'Condensation', forgotten_event_ids: ['e1'] } as unknown as ConversationEvent;
    expect(brought(action, [event, forgotten])).toEqual(first);
  });
});
