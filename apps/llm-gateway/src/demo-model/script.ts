import {
  type CheckResult,
  checkCommand,
  entryText,
  FILE_NAME,
  fileText,
  type LookResult,
  lookCommand,
  readCheck,
  readLook,
} from './demo-steps.js';
import type { Transcript } from './transcript.js';

export interface DemoTurn {
  readonly text: string;
  /** `null` ends the run. */
  readonly call: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> } | null;
}

/** Highest number that "count to N" counts to: ten minutes. */
export const MAX_COUNT = 600;

const WHO = "I am Slipway's demo model: a fixed script, not an AI.";
const REAL = 'For a real model set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, and start Slipway again.';

/**
 * The next turn of the script. Total: every transcript gets one, and each tool result brings it one step nearer to its
 * end.
 */
export function demoTurn(transcript: Transcript): DemoTurn {
  const { tools } = transcript;
  if (!tools.has('terminal') || !tools.has('file_editor'))
    return {
      text: `${WHO} I can only show the tools terminal and file_editor, and this request offers neither or one of them. ${REAL}`,
      call: null,
    };
  const count = /\bcount (?:up )?to (\d{1,9})\b/i.exec(transcript.prompt)?.[1];
  return count === undefined
    ? taskTurn(transcript)
    : countTurn(transcript, Math.min(MAX_COUNT, Math.max(1, Number(count))));
}

const PLAN = [
  'Look around in the working directory',
  `Write what was seen into ${FILE_NAME}`,
  'Check that the file holds it',
];

/** Plan, read, write, check, plan done, finish; without a task_tracker the two plans are left out. */
function taskTurn(transcript: Transcript): DemoTurn {
  const { rounds, tools, prompt } = transcript;
  const planned = tools.has('task_tracker');
  const steps = ['plan', 'look', 'write', 'check', 'done', 'finish'].filter(
    (step) => planned || (step !== 'plan' && step !== 'done'),
  );
  const resultOf = (step: string): string | null => rounds[steps.indexOf(step)]?.result ?? null;
  const look = readLook(resultOf('look') ?? '');
  switch (steps[rounds.length]) {
    case 'plan':
      return { text: intro(transcript), call: plan(['in_progress', 'todo', 'todo']) };
    case 'look':
      return {
        text: planned ? 'First I look around, with a real shell.' : intro(transcript),
        call: terminal(lookCommand(transcript.workingDirectory), 'Look at the commits and files'),
      };
    case 'write': {
      if (look === null) return finish(tools, failedLook(resultOf('look')));
      const entry = entryText(look.entries + 1, prompt, look);
      const path = `${look.directory}/${FILE_NAME}`;
      if (look.lines === null)
        return {
          text: `There is no ${FILE_NAME} yet. I write one from what the shell answered.`,
          call: editor('Write what was seen', { command: 'create', path, file_text: fileText(entry) }),
        };
      return {
        text: `${FILE_NAME} is there with ${look.entries} ${look.entries === 1 ? 'entry' : 'entries'}. I add one after its line ${look.lines}.`,
        call: editor('Add what was seen', { command: 'insert', path, insert_line: look.lines, new_str: `\n${entry}` }),
      };
    }
    case 'check':
      if (look === null) return finish(tools, failedLook(resultOf('look')));
      return {
        text: 'Now I check with the shell whether the file really holds the new entry.',
        call: terminal(checkCommand(look), 'Check the file and show the change'),
      };
    case 'done': {
      const check = readCheck(resultOf('check') ?? '');
      return {
        text: '',
        call: plan([
          'done',
          resultOf('write') !== null && check?.holds === true ? 'done' : 'todo',
          check === null ? 'todo' : 'done',
        ]),
      };
    }
    case 'finish':
      return finish(
        tools,
        look === null
          ? failedLook(resultOf('look'))
          : summary(look, readCheck(resultOf('check') ?? ''), resultOf('write')),
      );
    default:
      return { text: 'That was the whole script. Send another message to run it again.', call: null };
  }
}

/** One command that takes a second a number, then what was really counted. */
function countTurn(transcript: Transcript, to: number): DemoTurn {
  const { rounds, tools } = transcript;
  if (rounds.length === 0) {
    return {
      text: `${WHO} I count to ${to}, one number a second, with a real command: a good moment to try Stop.`,
      call: terminal(`for i in $(seq 1 ${to}); do echo "$i"; sleep 1; done`, `Count to ${to}`),
    };
  }
  if (rounds.length > 1)
    return { text: 'That was the whole script. Send another message to run it again.', call: null };
  const lines = (rounds[0]?.result ?? '').split('\n').map((line) => line.trim());
  const last = lines.findLast((line) => /^\d+$/.test(line));
  if (last === undefined)
    return finish(tools, `The command printed no number. I am a fixed script and cannot find out why. ${REAL}`);
  return finish(
    tools,
    `The last number that the command printed is ${last}${Number(last) === to ? '' : `, not ${to}: it was cut short`}. I am a fixed script, not an AI. ${REAL}`,
  );
}

function intro(transcript: Transcript): string {
  if (transcript.followUp) return `${WHO} I got your new message and run the same script once more.`;
  return `${WHO} I cannot do your task; I show how Slipway works, with real tools in your sandbox: look around, write one file, check it. ${REAL}`;
}

function failedLook(result: string | null): string {
  const said = result === null ? 'It gave no answer.' : `It answered:\n\n${result.slice(0, 500)}`;
  return `I stop here: my first command did not answer in a form that this script reads. ${said}\n\nI am a fixed script, not an AI. ${REAL}`;
}

function summary(look: LookResult, check: CheckResult | null, written: string | null): string {
  const commits =
    look.commits.length === 0
      ? `no commits (git said: ${look.gitSaid || 'nothing'})`
      : `the newest commit \`${look.commits[0]}\``;
  const seen = `In \`${look.directory}\` I saw ${look.files.length === 0 ? 'no files' : `${look.files.length}${look.files.length === 20 ? ' or more' : ''} files and folders`} and ${commits}.`;
  const wrote = `I asked the file editor to ${look.lines === null ? 'create' : 'extend'} \`${FILE_NAME}\`${written === null ? ', and got no answer' : ''}.`;
  const checked =
    check === null
      ? 'The check gave no readable answer, so I cannot say whether the file holds the new entry.'
      : check.holds
        ? 'The check ended with exit code 0: the file holds the new entry.'
        : `The check ended with exit code ${check.exitCode}: the file does not hold the new entry. This step failed.`;
  const status =
    check === null || check.status === '' ? '' : `\n\n\`git status\` shows:\n\n\`\`\`\n${check.status}\n\`\`\``;
  return `${seen} ${wrote} ${checked}${status}\n\nI am a fixed script, not an AI: nothing of this answers your message. ${REAL}`;
}

function plan(states: readonly string[]): DemoTurn['call'] {
  return {
    tool: 'task_tracker',
    arguments: {
      command: 'plan',
      task_list: PLAN.map((title, index) => ({ title, notes: '', status: states[index] ?? 'todo' })),
    },
  };
}

function terminal(command: string, summaryText: string): DemoTurn['call'] {
  return { tool: 'terminal', arguments: { command, summary: summaryText, security_risk: 'LOW' } };
}

function editor(summaryText: string, more: Readonly<Record<string, unknown>>): DemoTurn['call'] {
  return { tool: 'file_editor', arguments: { ...more, summary: summaryText, security_risk: 'MEDIUM' } };
}

function finish(tools: ReadonlySet<string>, message: string): DemoTurn {
  return tools.has('finish')
    ? { text: '', call: { tool: 'finish', arguments: { message } } }
    : { text: message, call: null };
}
