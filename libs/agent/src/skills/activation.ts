import type { AgentAction } from '@slipway/contracts/actions';
import type { ConversationEvent, EventOf } from '@slipway/contracts/events';
import { globMatcher } from '@slipway/domain';
import { condensedOf } from '../condenser/condensation.js';
import { pathsOf } from '../security/subject.js';
import type { Skill } from './skill.js';

/** Skills that one message brings at most, and the length of all they say. Characters. */
const MAX_SKILLS = 5;
const MAX_LENGTH = 100_000;

/**
 * What a message says beside its own text: the skills whose trigger is in it, and that the model has not before its
 * eyes already. Nothing for most messages.
 */
export function activatedBy(
  text: string,
  skills: readonly Skill[],
  events: readonly ConversationEvent[],
): Pick<EventOf<'MessageEvent'>, 'activated_skills' | 'extended_content'> {
  const triggered = skills.flatMap((skill) => {
    const trigger = skill.shown === 'always' ? undefined : skill.triggers.find((each) => isIn(text, each));
    return trigger === undefined ? [] : [{ skill, trigger }];
  });
  return bringing(triggered, events, (trigger) => `the message says "${trigger}"`);
}

/**
 * Text added to an answer: the skills of the files that its action read or changed. `workingDir`: what paths of skills
 * begin in.
 */
export function broughtByFiles(
  action: AgentAction,
  workingDir: string,
  skills: readonly Skill[],
  events: readonly ConversationEvent[],
): Pick<EventOf<'ObservationEvent'>, 'activated_skills' | 'extended_content'> {
  const scoped = skills.filter(({ paths, shown }) => paths.length > 0 && shown !== 'always');
  if (scoped.length === 0) return {};
  const looked = action.kind === 'FileEditorAction' && action.command === 'view' ? [action.path] : [];
  const base = `${workingDir.replace(/\/+$/, '')}/`;
  const files = [...pathsOf(action), ...looked]
    .map((file) => (file.startsWith(base) ? file.slice(base.length) : file.replace(/^\.\//, '')))
    .filter((file) => !file.startsWith('/'));
  const touched = scoped.flatMap((skill) => {
    const trigger = files.find((file) => skill.paths.some((glob) => globMatcher(glob)?.(file) === true));
    return trigger === undefined ? [] : [{ skill, trigger }];
  });
  return bringing(touched, events, (file) => `${file} is a file of its kind`);
}

function bringing(
  triggered: ReadonlyArray<{ readonly skill: Skill; readonly trigger: string }>,
  events: readonly ConversationEvent[],
  why: (trigger: string) => string,
): Pick<EventOf<'MessageEvent'>, 'activated_skills' | 'extended_content'> {
  if (triggered.length === 0) return {};
  const known = activeSkills(events);
  let left = MAX_LENGTH;
  const brought = triggered
    .filter(({ skill }) => !known.has(skill.name))
    .slice(0, MAX_SKILLS)
    .filter(({ skill }) => {
      left -= skill.content.length;
      return left >= 0;
    });
  if (brought.length === 0) return {};
  return {
    activated_skills: brought.map(({ skill }) => skill.name),
    extended_content: brought.map(({ skill, trigger }) => ({ type: 'text', text: skillText(skill, why(trigger)) })),
  };
}

/** Names of the skills that the model still sees the text of. */
function activeSkills(events: readonly ConversationEvent[]): Set<string> {
  const { forgotten } = condensedOf(events);
  return new Set(
    events.flatMap((event) =>
      (event.kind === 'MessageEvent' || event.kind === 'ObservationEvent') && !forgotten.has(event.id)
        ? (event.activated_skills ?? [])
        : [],
    ),
  );
}

/** As a word of its own: `git` is not in `digital`. */
function isIn(text: string, trigger: string): boolean {
  const escaped = trigger.toLowerCase().replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u').test(text.toLowerCase());
}

function skillText(skill: Skill, why: string): string {
  const where = skill.source === null ? '' : ` It is in ${skill.source}.`;
  return `<EXTRA_INFO>\nThis is the skill "${skill.name}", here because ${why}.${where} Use it if it fits what was asked.\n\n${skill.content}\n</EXTRA_INFO>`;
}

/** The part of the system prompt that lists skills; `undefined` without any. Skills in `already` are not repeated. */
export function skillsPrompt(skills: readonly Skill[], already = ''): string | undefined {
  const always = skills.filter(({ shown, content }) => shown === 'always' && !already.includes(content));
  const listed = skills.filter(({ shown, content }) => shown === 'listed' && !already.includes(content));
  if (always.length === 0 && listed.length === 0) return undefined;
  return [
    ...always.map(({ name, content }) => `<skill name="${name.replaceAll('"', '')}">\n${content}\n</skill>`),
    ...(listed.length === 0
      ? []
      : [
          `<available_skills>\n${listed.map(({ name, description, source }) => `- ${name}: ${description}${source === null ? '' : ` (${source})`}`).join('\n')}\n</available_skills>`,
          'Read a skill with invoke_skill before you do what it is about.',
        ]),
  ].join('\n\n');
}
