import type { AgentAction } from '@slipway/contracts/actions';
import { commandOf } from './subject.js';

/** Folders whose loss is the loss of the machine. */
const SYSTEM = /^(?:\/|\/\*|~|\/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var)(?:\/\*?)?)$/;
const FETCHES = /^(?:curl|wget|fetch)$/;
const INTERPRETS = /^(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby|php)$/;

/**
 * Commands that are harmful as a combination: a program that is fetched and run, a raw device that is written, a tree
 * of the system that is deleted. One command of a pipeline at a time, by words, so that a text which only mentions them
 * does not count. This is advisory; the sandbox isolates.
 * @returns sentences for the user who confirms; none when no rule matches.
 */
export function railsOf(action: AgentAction): string[] {
  const text = shellOf(action);
  const found = new Set<string>();
  for (const pipeline of text.split(/\n|;|&&|\|\|/)) {
    const commands = pipeline.split('|').map(wordsOf);
    commands.forEach((words, at) => {
      const [program = '', ...rest] = words;
      if (FETCHES.test(program) && commands.slice(at + 1).some(([next = '']) => INTERPRETS.test(next)))
        found.add('It fetches a program and runs it.');
      if (
        program === 'rm' &&
        rest.some((word) => /^-\w*[rR]|^--recursive$/.test(word)) &&
        rest.some((word) => SYSTEM.test(word))
      )
        found.add('It deletes a tree of the system.');
      if (program === 'find' && rest.some((word) => SYSTEM.test(word)) && rest.includes('-delete'))
        found.add('It deletes a tree of the system.');
      if (
        /^(?:dd|cp|tee|cat)$/.test(program) &&
        rest.some((word) => /^(?:of=|>)?\/dev\/(?:sd|nvme|vd|xvd|mmcblk|mem|kmem)/.test(word))
      )
        found.add('It writes to a raw device.');
    });
  }
  return [...found];
}

/** What a shell would run: a command, or the lines of a cell that go to one. */
function shellOf(action: AgentAction): string {
  const text = commandOf(action) ?? '';
  if (action.kind === 'TerminalAction') return text;
  if (/^\s*%%(?:bash|sh|script)\b/.test(text)) return text.replace(/^.*\n?/, '');
  return text
    .split('\n')
    .flatMap((line) => /^\s*(?:!|%sx\b|%system\b)(.*)$/.exec(line)?.[1] ?? [])
    .join('\n');
}

/**
 * The words of one command without quotes, variable assignments and wrappers before it, and the program without its
 * folder.
 */
function wordsOf(command: string): string[] {
  const words = command
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/["'()]/g, ''))
    .filter((word) => word !== '');
  while (words.length > 0 && /^(?:\w+=.*|sudo|doas|env|nohup|time|exec|command|-\w+)$/.test(words[0] ?? ''))
    words.shift();
  const [program = '', ...rest] = words;
  return [program.replace(/^.*\//, ''), ...rest];
}
