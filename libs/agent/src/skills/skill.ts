import type { GivenSkill } from '@slipway/contracts/actions';
import { readFrontMatter } from './front-matter.js';

/** Longest description that the model is shown before it asks for the skill. Characters. */
const MAX_DESCRIPTION = 1_024;
/** Longest skill that is passed on in one piece. Characters. */
const MAX_CONTENT = 50_000;
const MAX_TRIGGERS = 50;

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  /** Where it was read, for the model to read further; `null` for one that came with the start. */
  readonly source: string | null;
  /** Words, and `/names`, that bring it into a message. */
  readonly triggers: readonly string[];
  /** Globs, as lines of `.gitignore`: the skill is added when the agent reads or changes a matching file. */
  readonly paths: readonly string[];
  /**
   * `always`: in the system prompt. `listed`: named there, and read when it is wanted. `hidden`: only its triggers and
   * paths bring it.
   */
  readonly shown: 'always' | 'listed' | 'hidden';
}

/** A skill out of a file of the workspace: `…/<name>/SKILL.md`, or `…/<name>.md`. `null` for one without text. */
export function skillOfFile(path: string, file: string): Skill | null {
  const { fields, text } = readFrontMatter(file);
  if (text.trim() === '') return null;
  const parts = path.split('/').filter((part) => part !== '');
  const isFolder = parts.at(-1) === 'SKILL.md';
  const name = said(fields['name']) || (isFolder ? (parts.at(-2) ?? '') : (parts.at(-1) ?? '').replace(/\.md$/i, ''));
  const triggers = listOf(fields['triggers']);
  const paths = listOf(fields['paths']);
  const hidden =
    said(fields['disable-model-invocation']) === 'true' || said(fields['disable_model_invocation']) === 'true';
  return {
    name: name.slice(0, 200),
    description: said(fields['description']).slice(0, MAX_DESCRIPTION),
    content: text.trim().slice(0, MAX_CONTENT),
    source: path,
    triggers,
    paths,
    shown: isFolder ? (hidden ? 'hidden' : 'listed') : triggers.length + paths.length > 0 ? 'hidden' : 'always',
  };
}

export function skillOfStart(given: GivenSkill): Skill {
  const triggers = [...(given.trigger?.keywords ?? []), ...(given.trigger?.triggers ?? [])];
  return {
    name: given.name,
    description: (given.description ?? '').slice(0, MAX_DESCRIPTION),
    content: given.content.trim().slice(0, MAX_CONTENT),
    source: given.source ?? null,
    triggers: triggers.slice(0, MAX_TRIGGERS),
    paths: (given.trigger?.paths ?? []).slice(0, MAX_TRIGGERS),
    shown: given.is_agentskills_format
      ? given.disable_model_invocation
        ? 'hidden'
        : 'listed'
      : given.trigger
        ? 'hidden'
        : 'always',
  };
}

function said(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: string | readonly string[] | undefined): string[] {
  const items = typeof value === 'string' ? value.split(',') : (value ?? []);
  return items
    .map((item) => item.trim())
    .filter((item) => item !== '' && item.length <= 100)
    .slice(0, MAX_TRIGGERS);
}
