import { COMMAND_GROUPS, COMMAND_IDS, COMMANDS } from '../../apps/web/src/features/commands/commands.ts';
import { displayOf } from '../../apps/web/src/features/commands/press.ts';
import { en } from '../../apps/web/src/messages/en/index.ts';
import type { GeneratedFile } from './generated-file.ts';

const HEADINGS = { navigation: 'Go to', conversation: 'Conversation', page: 'Page', account: 'Account' } as const;

/** docs/shortcuts.md: every command of the web app, with its default keys. */
export function shortcuts(): GeneratedFile {
  const sections = COMMAND_GROUPS.map((group) => {
    const rows = COMMAND_IDS.filter((id) => COMMANDS[id].group === group).map((id) => {
      const { keys, label } = COMMANDS[id];
      const [feature = '', key = ''] = label.split('.');
      const words = (en as Readonly<Record<string, Readonly<Record<string, string>>>>)[feature]?.[key];
      if (words === undefined) throw new Error(`${label} of the command ${id} is not in the catalogue of messages`);
      const pressed = (mac: boolean): string =>
        keys === null
          ? ''
          : displayOf(keys, mac)
              .map((press) => `\`${press}\``)
              .join(' ');
      return `| ${words} | ${pressed(false)} | ${pressed(true)} |`;
    });
    return `## ${HEADINGS[group]}\n\n| command | keys | on a Mac |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return {
    path: 'docs/shortcuts.md',
    content: `# Keyboard shortcuts

For users of the web app. Made from \`apps/web/src/features/commands/commands.ts\`.

The command palette finds every command, page and conversation by letters of its name.
Keys of a sequence follow each other within a second.
Shortcuts without a modifier are off while you type in a field, a terminal or an editor.
Settings → Keyboard changes keys, and switches all shortcuts of a single key off.

${sections.join('\n')}`,
  };
}
